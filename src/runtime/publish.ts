/** Output of actors on the bus, as JSON for readers that have only a subject: see docs/reference/nats.md. */

import type { Cluster } from '../cluster/index.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Logger } from '../contracts/environment.ts'
import { errorBody, isRuntimeError } from '../contracts/errors.ts'
import type { AnyEvent, Commit } from '../contracts/journal.ts'
import { type Address, parseAddress, type Subjects } from '../contracts/subjects.ts'
import type { Bus } from '../contracts/transport.ts'
import { coalesced } from './coalesce.ts'
import type { Elsewhere } from './event-hub.ts'
import type { OutputEvent } from './output-event.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** What is short of an event, marked. */
export const withoutContent = (body: object): object => ({
  // What JSON leaves out has no length.
  ...Object.fromEntries(Object.entries(body).filter(([, value]) => (JSON.stringify(value)?.length ?? 0) < 1000)),
  tooLarge: true,
})

/** Names the node that says something: what it said itself it has heard already. */
const nodeHeader = 'Statecast-Node'

/** What other nodes say of roots, and how far they have written them. What names no node that is alive is not theirs. */
export const othersOn = (bus: Bus, names: Subjects, { me, isAlive }: Pick<Cluster, 'me' | 'isAlive'>, log: Logger): Elsewhere => {
  const listen = (pattern: string, hear: (said: Said) => void): (() => void) =>
    bus.subscribe(pattern, ({ subject, data, headers }) => {
      const node = headers?.[nodeHeader]
      if (node === undefined || node === me || !isAlive(node)) return
      try {
        hear(JSON.parse(decoder.decode(data)) as Said)
      } catch (error) {
        log.warn({ subject, error: errorBody(error) }, 'an event of another node cannot be read')
      }
    })
  return {
    outputs: (name, hear) =>
      listen(names.everyOut(parseAddress(name)), ({ path, seq, part, at, ...event }) => {
        if (event.type !== 'state') hear({ path, event, remote: true, ...definedOf({ seq, index: part, at }) })
      }),
    growth: (address, hear) =>
      listen(names.out(address, 'state'), ({ seq }) => {
        if (Number.isSafeInteger(seq)) hear(seq as number)
      }),
  }
}

type Said = AnyEvent & { path: string; seq?: number; part?: number; at?: number }

/** Encoding is for listeners: a bus that knows that there are none is not given anything. @param me the node that this is */
export const publishOutputs = (bus: Bus, names: Subjects, log: Logger, me?: string) => {
  const headers = { 'Content-Type': 'application/json', ...(me === undefined ? {} : { [nodeHeader]: me }) }
  const send = (address: Address, type: string, body: () => object): void => {
    let subject = ''
    const say = (content: object) => bus.publish(subject, encoder.encode(JSON.stringify(content)), headers)
    try {
      subject = names.out(address, type)
      if (!bus.wanted(subject)) return
      try {
        say(body())
      } catch (error) {
        if (!isRuntimeError(error) || error.code !== 'too_large') throw error
        // Nobody shall wait for what will never come: who hears this reads the rest where it stands.
        say(withoutContent(body()))
      }
    } catch (error) {
      log.warn({ subject, error: errorBody(error) }, 'an event could not be published')
    }
  }
  const one = (address: Address, { path, event, seq, index }: OutputEvent): void => {
    if (event.type !== 'transcript') send(address, event.type, () => ({ ...event, path, ...(seq === undefined ? {} : { seq, part: index }) }))
  }
  // Within one process a message costs next to nothing.
  const say = me === undefined ? one : coalesced(one)
  return {
    /** Most of the time nobody listens at all, and then nothing has to be made: asked before either of the others. */
    wanted: bus.wanted.bind(bus),
    say,
    state: (address: Address, { seq, at, states }: Commit): void => send(address, 'state', () => ({ type: 'state', seq, at, states })),
  }
}
