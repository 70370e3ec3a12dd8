/** Output of actors on the bus, as JSON for whoever has only a subject: see docs/reference/subjects.md. */
import type { Commit } from '../contracts/journal.ts'
import type { Address, Subjects } from '../contracts/subjects.ts'
import type { Bus } from '../contracts/transport.ts'
import type { Said } from './outputs.ts'

const encoder = new TextEncoder()

/** Encoding is for listeners: a bus that knows that there are none is not given anything. */
export const publishOutputs = (bus: Bus, names: Subjects) => {
  const send = (address: Address, type: string, body: () => object): void => {
    // Most of the time nobody listens at all, and then not even the subject has to be made.
    if (!bus.wanted()) return
    const subject = names.out(address, type)
    if (bus.wanted(subject)) bus.publish(subject, encoder.encode(JSON.stringify(body())), { 'Content-Type': 'application/json' })
  }
  const publish = (address: Address, { path, event, seq, index }: Said): void => {
    if (event.type !== 'transcript') send(address, event.type, () => ({ ...event, path, ...(seq === undefined ? {} : { seq, part: index }) }))
  }
  publish.state = (address: Address, { seq, at, states }: Commit): void => send(address, 'state', () => ({ type: 'state', seq, at, states }))
  return publish
}
