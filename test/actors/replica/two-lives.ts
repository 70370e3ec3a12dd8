/** Lets machines of any shape live through the same story with XState's step and with ours. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { type AnyActorRef, type AnyStateMachine, createActor, type InspectionEvent, SimulatedClock } from 'xstate'
import { stepByTable } from '../../../src/actors/replica/step.ts'
import { casesOf } from '../../support/property.ts'
import { buildMachine, type Pick, picking, type Spec, specOf } from './any-machine.ts'

type Anything = any

const byTable = (machine: AnyStateMachine): AnyStateMachine => {
  stepByTable(machine)
  return machine
}
const asIs = (machine: AnyStateMachine): AnyStateMachine => machine

const messageOf = (error: Anything): unknown => (error instanceof Error ? error.message : error)

/** Snapshots with all that they show and their fields in order, other actors by their id. */
const text = (value: unknown): string =>
  JSON.stringify(value ?? null, function (this: Anything, key, part) {
    const whole = this[key]
    if (whole instanceof Error) return messageOf(whole)
    if (whole?.sessionId) return `ref ${whole.id}`
    return whole?._nodes ? shown(whole) : part
  })

const shown = (snapshot: Anything): object => {
  const { _nodes: nodes, machine, tags, historyValue, ...rest } = snapshot
  return {
    ...rest,
    fields: Object.keys(snapshot).join(),
    tags: [...tags],
    nodes: nodes.map(({ id }: Anything) => id),
    history: Object.keys(historyValue),
  }
}

const told = (event: InspectionEvent): object => {
  const { type, actorRef, sourceRef, event: sent, action, snapshot, _transitions: transitions = [] } = event as Anything
  const taken = transitions.map(({ eventType, source, target }: Anything) => [eventType, source.id, target?.map(({ id }: Anything) => id)])
  return { type, actor: actorRef.id, from: sourceRef?.id, sent, action, snapshot, taken }
}

const canTake = (snapshot: Anything, type: string): unknown => {
  try {
    return snapshot.can({ type })
  } catch (error) {
    return messageOf(error)
  }
}

type Deed = { send: string } | { wait: number } | 'restart'

/** @returns all that can be seen of a machine while these things happen to it */
const lifeOf = (specs: Spec[], step: (machine: AnyStateMachine) => AnyStateMachine, deeds: Deed[]): string[] => {
  const seen: string[] = []
  const see = (...what: unknown[]) => void seen.push(text(what))
  // A machine of any shape may answer itself for ever, by messages or by actors that end and are invoked again.
  const left = { sends: 8, actors: 25 }
  const machine = buildMachine(specs, step, see, () => left.sends-- > 0)
  const inspect = (event: InspectionEvent) => {
    if (event.type === '@xstate.actor' && (event.actorRef as Anything)._parent && left.actors-- <= 0) throw new Error('too many actors')
    see(told(event))
  }
  let clock = new SimulatedClock()
  const begin = (snapshot?: Anything): AnyActorRef => {
    clock = new SimulatedClock()
    const actor = createActor(machine, { id: 'top', clock, logger: see, snapshot, inspect, input: { n: 1 } })
    actor.subscribe({ next: (snapshot) => see('next', snapshot), error: (error) => see('error', error) })
    actor.on('*', (event: Anything) => see('emitted', event))
    return actor.start()
  }
  let actor = begin()
  for (const deed of deeds) {
    const snapshot = actor.getSnapshot()
    see(deed, snapshot.status)
    if (snapshot.status !== 'active') break
    if (deed === 'restart') {
      const persisted = JSON.parse(text(actor.getPersistedSnapshot()))
      see('persisted', persisted)
      actor = begin(persisted)
    } else if ('wait' in deed) clock.increment(deed.wait)
    else {
      see(canTake(snapshot, deed.send), snapshot.matches('n1'), snapshot.hasTag('warm'), snapshot.getMeta())
      actor.send({ type: deed.send })
    }
  }
  return seen
}

const deedsOf = (pick: Pick): Deed[] =>
  Array.from({ length: 12 }, () =>
    pick<Deed>(
      { send: 'a' },
      { send: 'b' },
      { send: 'c' },
      { send: 'd.x' },
      { send: 'd.y' },
      { send: 'other' },
      { wait: 4 },
      { wait: 20 },
      'restart',
    ),
  )

/** @param url of the test file @throws at the first machine of which anything that can be seen is not the same */
export const expectSameLives = (url: string): void => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const pick = picking(g)
      const specs = Array.from({ length: pick(1, 2) }, () => specOf(pick))
      const deeds = deedsOf(pick)
      const [own, other] = [lifeOf(specs, asIs, deeds), lifeOf(specs, byTable, deeds)]
      const first = own.findIndex((line, index) => line !== other[index])
      expect(other[first]).toBe(own[first])
      expect(other).toHaveLength(own.length)
    }),
    // What fails is large: its seed says more than a smaller one that took minutes to find.
    casesOf(url, { endOnFailure: true }),
  )
}
