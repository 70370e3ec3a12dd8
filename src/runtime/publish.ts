/** Output of actors on the bus, as JSON for whoever has only a subject: see docs/reference/subjects.md. */
import type { Commit } from '../contracts/journal.ts'
import type { Address, Subjects } from '../contracts/subjects.ts'
import type { Bus } from '../contracts/transport.ts'
import type { Said } from './outputs.ts'

const encoder = new TextEncoder()

/** Encoding is for listeners: a bus that knows that there are none is not given anything. */
export const publishOutputs = (bus: Bus, names: Subjects) => {
  const send = (subject: string, body: () => object): void => {
    if (bus.wanted(subject)) bus.publish(subject, encoder.encode(JSON.stringify(body())), { 'Content-Type': 'application/json' })
  }
  const publish = (address: Address, { path, event, seq, index }: Said): void => {
    if (event.type !== 'transcript')
      send(names.out(address, event.type), () => ({ ...event, path, ...(seq === undefined ? {} : { seq, part: index }) }))
  }
  publish.state = (address: Address, { seq, at, states }: Commit): void =>
    send(names.out(address, 'state'), () => ({ type: 'state', seq, at, states }))
  return publish
}
