/** Sessions as a list of conversations shows them: what each is called, and what was said last. Read from their journals; none is woken. */
import { commitOf } from '../actors/index.ts'
import { type Access, reaches } from '../contracts/access.ts'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError } from '../contracts/errors.ts'
import type { Message } from '../contracts/message.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Head } from '../contracts/transport.ts'
import { contentOf, type SessionContext } from '../machines/index.ts'
import { allHeads, type Parts } from '../runtime/index.ts'
import { peek } from './actors.ts'
import { rowsOf } from './session-rows.ts'
import { type SessionRow, sessionRow } from './sessions.ts'

type JournalParts = Pick<Parts, 'transport' | 'host'>

type DescribedSession = SessionRow & {
  /** What its users call it, else the beginning of what was said first. */
  title?: string
  /** The beginning of what was said last. */
  last?: string
  lastRole?: 'user' | 'assistant'
}

const rowsMax = 200
/** Commits in which the last words stand: a step of a turn has two. */
const lookBack = 20
const charsMax = 120

/** The newest first; of those that have not changed since they were last listed nothing is read. @throws RuntimeError log_unavailable */
export const describeSessions = async (parts: JournalParts, limit = rowsMax, access?: Access): Promise<DescribedSession[]> => {
  const heads: Head[] = []
  for await (const head of allHeads(parts.transport.journal, 'session')) if (reaches(access, head.address.id)) heads.push(head)
  const newest = heads.sort((a, b) => b.at - a.at).slice(0, Math.min(limit, rowsMax))
  const rows = rowsOf<DescribedSession>(parts.transport.journal)
  return Promise.all(newest.map((head) => rows.row(head, () => describe(parts, head))))
}

const describe = async (parts: JournalParts, head: Head): Promise<DescribedSession> => {
  const row = await sessionRow(parts, head)
  try {
    const last = (await saidIn(parts, head.address, Math.max(1, head.seq - lookBack + 1), lookBack)).at(-1)
    const title = (await chosenTitle(parts, head.address))?.replace(unseen, '') ?? beginning((await saidIn(parts, head.address, 1, 1))[0]?.text)
    return { ...row, ...definedOf({ title, last: beginning(last?.text), lastRole: last?.role }) }
  } catch (error) {
    // One that cannot be read says so in its state, and hides no other.
    if (isRuntimeError(error) && !error.retryable) return row
    throw error
  }
}

const chosenTitle = async (parts: JournalParts, address: Address): Promise<string | undefined> => {
  const { replica } = await peek(parts, address)
  return (replica?.actor.getSnapshot().context as SessionContext | undefined)?.record.toggles.title
}

type Said = Extract<Message, { role: 'user' | 'assistant' }>

const saidIn = async ({ transport }: JournalParts, address: Address, from: number, limit: number): Promise<Said[]> => {
  const frames = await transport.journal.read(address, from, { limit })
  return frames
    .flatMap((frame) => commitOf(frame, address).inputs)
    .flatMap((input) => contentOf(input)?.[1] ?? [])
    .filter((message): message is Said => (message.role === 'user' || message.role === 'assistant') && message.text.trim() !== '')
}

/** What no screen shows, and what turns the direction of writing for all that stands behind it. */
const unseen = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** On one line, cut between characters. */
const beginning = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const line = text.replace(/\s+/g, ' ').replace(unseen, '').trim()
  return line.length <= charsMax ? line : `${line.slice(0, charsMax).replace(/[\ud800-\udbff]$/, '')}…`
}
