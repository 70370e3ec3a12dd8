/**
 * Where a reader of an actor's events stands: the number of a commit, the part of it, and which life of the actor that was. One that was deleted and
 * begun anew counts from 1 again, so its numbers alone say nothing.
 */

import { checksum } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import type { OutEvent } from '../runtime/index.ts'

/** The place of a durable event; the reader has seen everything up to it. */
export type Place = { seq: number; part: number; birth?: string | undefined }

/** Before everything. */
export const beginning: Place = { seq: 0, part: -1 }

export const isAfter = (event: OutEvent, { seq, part }: Place): boolean =>
  event.seq === undefined || event.seq > seq || (event.seq === seq && (event.part ?? 0) > part)

/** `12.3.1k9x2`, or `12.3` where nobody knows of which life. @param field that the error is to name @throws RuntimeError bad_request */
export const parsePlace = (text: string, field = 'Last-Event-ID'): Place => {
  const [, seq, part, birth] = /^(\d{1,15})\.(\d{1,9})(?:\.([\da-z]{1,7}))?$/.exec(text) ?? []
  if (seq === undefined)
    throw new RuntimeError('bad_request', `'${text.slice(0, 40)}' is not a position in a journal`, {
      field,
      hint: 'send the id of the last event that you have seen, such as 12.3.1k9x2',
    })
  return { seq: Number(seq), part: Number(part), birth }
}

export const formatPlace = ({ seq, part, birth }: Place): string => [seq, Math.max(part, 0), ...(birth === undefined ? [] : [birth])].join('.')

/** Tells the lives of an actor apart: the checksum of its first commit. @returns undefined for one that does not exist */
export const birthOf = async (journal: Pick<Journal, 'read'>, address: Address): Promise<string | undefined> => {
  const [first] = await journal.read(address, 1, { limit: 1 })
  return first?.seq === 1 ? checksum(first.bytes).toString(36) : undefined
}

/** Everything that the reader has of this actor is void; what follows is all there is, from its beginning. */
const restartEvent = (birth: string | undefined): OutEvent => ({
  type: 'restart',
  why: 'the place that was given is not in this journal: the conversation was deleted and begun anew, or restored from a backup',
  path: '/',
  seq: 0,
  part: 0,
  ...definedOf({ birth }),
})

/**
 * Where a reader of the journal goes on. A place that the journal does not have is of another life of the actor: then `restart` comes first, and everything
 * from the beginning.
 */
export const resumeAt = async (
  journal: Pick<Journal, 'read' | 'head'>,
  address: Address,
  after: Place = beginning,
): Promise<{ place: Place; restart?: OutEvent }> => {
  const birth = await birthOf(journal, address)
  const head = await journal.head(address)
  // Also in the right life: a backup that was restored ends before what its readers have seen.
  const foreign = (after.birth !== undefined && after.birth !== birth) || after.seq > (head?.seq ?? 0)
  return { place: { ...(foreign ? beginning : after), birth }, ...definedOf({ restart: foreign ? restartEvent(birth) : undefined }) }
}

/**
 * Events as they are heard, each durable one once: a host that takes over says its last words again. A new life of the actor begins with `restart`.
 * @param birth asks for the life that is in the journal now
 * @param stamped each durable event names its life; where asking may take long, that is not worth the wait
 */
export async function* inOrder(
  events: AsyncIterable<OutEvent>,
  start: Place,
  { birth, stamped }: { birth: () => Promise<string | undefined>; stamped: boolean },
): AsyncGenerator<OutEvent> {
  const ask = () => birth().catch(() => undefined)
  let place = start
  /** Also of what was said again: only where the numbers go back may another life have begun. */
  let heard = start
  let born = start.birth === undefined ? undefined : Promise.resolve<string | undefined>(start.birth)
  for await (const event of events) {
    if (event.seq === undefined) {
      yield event
      continue
    }
    const { seq, part = 0 } = event
    if (!isAfter(event, heard)) {
      const [before, now] = [await born, await ask()]
      if (before !== undefined && now !== undefined && before !== now) {
        yield restartEvent(now)
        place = beginning
      }
      if (now !== undefined) born = Promise.resolve(now)
    }
    heard = { seq, part }
    if (!isAfter(event, place)) continue
    place = heard
    born ??= ask()
    const life = stamped ? await born : undefined
    yield life === undefined ? event : { ...event, birth: life }
  }
}
