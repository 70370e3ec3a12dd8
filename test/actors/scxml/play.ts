/** What becomes of a machine in a case, in plain XState and under the root host. */
import { type AnyStateMachine, createActor, SimulatedClock } from 'xstate'
import { replay } from '../../../src/actors/journal/replay.ts'
import { registerMachine } from '../../../src/actors/registration.ts'
import { aWorld } from '../support.ts'
import type { Case } from './cases.ts'

type Anything = any

const leavesOf = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(value as object).flatMap(([state, inside]) =>
        typeof inside === 'object' && Object.keys(inside).length === 0 ? [state] : leavesOf(inside),
      )
const configurationOf = (value: unknown): string[] => leavesOf(value).sort()

/** One line of what inspectors are told. */
const lineOf = ({ type, event, action, snapshot, _transitions: transitions = [] }: Anything): string => {
  const { value, context, status, output } = snapshot ?? {}
  const taken = transitions.map(({ eventType, source, target }: Anything) => [eventType, source.id, target?.map(({ id }: Anything) => id)])
  return JSON.stringify([type, event, action, taken, { value, context, status, output }])
}

/** @returns besides the states all that can be seen of the machine on its way, in order */
export const playPlainly = (machine: AnyStateMachine, { events }: Case): { configurations: string[][]; seen: string[] } => {
  const clock = new SimulatedClock()
  const seen: string[] = []
  const inspect = (event: Anything) => void (event.type === '@xstate.actor' || seen.push(lineOf(event)))
  const actor = createActor(machine, { id: 'case', clock, logger: (...said) => void seen.push(JSON.stringify(said)), inspect })
  actor.subscribe({ error: (error) => void seen.push(String(error)) })
  const here = () => configurationOf(actor.getSnapshot().value)
  actor.start()
  const configurations = [here()]
  for (const { after, type } of events) {
    // One by one, since what comes in time may set further timers.
    for (let passed = 0; passed < after; passed++) clock.increment(1)
    actor.send({ type })
    configurations.push(here())
  }
  return { configurations, seen }
}

const address = { kind: 'case', id: 'one' }

/** Each event finds a new process, which knows of the former ones what is in the journal. */
export const playDurably = async (make: () => AnyStateMachine, { events }: Case): Promise<{ configurations: string[][]; verdict: string }> => {
  const world = await aWorld()
  const begun = () => world.host([registerMachine(address.kind, make())])
  // No time may pass meanwhile: an event that comes at once would no longer be on its way.
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    await Promise.all([promise, world.clock.settle()])
    return promise
  }
  let host = await begun()
  await settled(host.create(address))
  const look = async () => (await settled(host.read(address))).snapshot
  const here = async () => configurationOf((await look())?.value)
  const configurations = [await here()]
  for (const { after, type } of events) {
    host.abandon()
    host = await begun()
    await world.clock.advance(after)
    // Plain XState drops what is sent to a machine that has ended, a host refuses it.
    if ((await look())?.status === 'active') await settled(host.send(address, { type }))
    configurations.push(await here())
  }
  const { verdict } = await replay(world.journal, address, registerMachine(address.kind, make()))
  host.abandon()
  return { configurations, verdict }
}
