/** Folds journals beside the page, with the modules that the server folds them with: whatever a trace holds, the page stays at hand. */
import { decodeCommit, Fold, machineSignature, registerMachine } from '../../../../src/actors/index.ts'
import { deliveryMachine } from '../../../../src/chat/delivery/delivery.machine.ts'
import { chatPublisher } from '../../../../src/chat/delivery/render.rules.ts'
import { deskMachine } from '../../../../src/chat/desk/desk.machine.ts'
import { errorBody } from '../../../../src/contracts/errors.ts'
import type { Frame } from '../../../../src/contracts/transport.ts'
import { sessionMachine, withDesk } from '../../../../src/machines/session/session.machine.ts'
import { turnWith } from '../../../../src/machines/turn/turn.machine.ts'
import type { Asked, Indexed, Look, Request, Response, Row, StoredFrame } from './messages.ts'
import { rowOf } from './rows.rules.ts'

/** Conversations with chat and without it; their effects never run here. */
const registrations = [
  withDesk(sessionMachine.provide({ actors: { turn: turnWith(chatPublisher(deliveryMachine)) } }), { logic: deskMachine }),
  sessionMachine,
].map((machine) => registerMachine('session', machine))

type Opened = { frames: Frame[]; fold: Fold | undefined; last: Row | undefined; kind: string; signature: string }
const opened = new Map<string, Opened>()

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

const take = async (address: string, stored: readonly StoredFrame[]): Promise<Indexed> => {
  const one = opened.get(address) ?? { frames: [], fold: undefined, last: undefined, kind: '', signature: '' }
  opened.set(address, one)
  const rows: Row[] = []
  for (const { seq, bytes } of stored) {
    if (seq !== one.frames.length + 1) continue
    const frame = { seq, bytes: bytesOf(bytes) }
    const commit = decodeCommit(frame.bytes, { address, seq })
    one.frames.push(frame)
    if (commit.create) begin(one, address, commit.create)
    const row = rowOf(commit, one.last)
    one.last = row
    if (one.fold) row.living = await one.fold.living(seq).catch(() => undefined)
    rows.push(row)
  }
  return { rows, folds: one.fold !== undefined, kind: one.kind, signature: one.signature }
}

const begin = (one: Opened, address: string, { machine, signature }: { machine: string; signature: string }): void => {
  one.kind = machine
  one.signature = signature
  const registration = registrations.find(({ machine: known }) => machineSignature(known) === signature)
  if (!registration) return
  const frames = async (from: number, limit: number) => one.frames.slice(from - 1, from - 1 + limit)
  one.fold = new Fold({ address, registration, frames })
}

const look = async (address: string, seq: number): Promise<Look | undefined> => {
  const fold = opened.get(address)?.fold
  if (!fold) return undefined
  const before = seq > 1 ? await fold.moment(seq - 1) : undefined
  const steps = await fold.steps(seq)
  return { seq, before, steps, moment: await fold.moment(seq) }
}

const answer = async (asked: Asked): Promise<unknown> => {
  if (asked.type === 'look') return look(asked.address, asked.seq)
  if (asked.type === 'frames') return take(asked.address, asked.frames)
  opened.delete(asked.address)
  return undefined
}

/** One after the other: frames are taken in their order. */
let last: Promise<unknown> = Promise.resolve()
addEventListener('message', ({ data: { id, ...asked } }: MessageEvent<Request>) => {
  const say = (response: Response) => postMessage(response)
  last = last.then(() =>
    answer(asked).then(
      (found) => say({ id, ok: true, answer: found }),
      (error: unknown) => say({ id, ok: false, error: errorBody(error) }),
    ),
  )
})
