/** Which states and transitions of machines a set of traces has been through. No effect runs and nothing is written; it loads in a browser too. */
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, InspectionEvent } from 'xstate'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { MachineCoverage, TransitionRef } from '../../contracts/inspection.ts'
import { parseAddress } from '../../contracts/subjects.ts'
import type { Frame } from '../../contracts/transport.ts'
import { machineSignature } from '../charts/signature.ts'
import { renamedSnapshot } from '../journal/adoption.ts'
import { commitOf } from '../journal/codec.ts'
import { takenOver } from '../journal/rewrite.ts'
import type { Registration } from '../registration.ts'
import { Replica } from '../replica/replica.ts'
import { isMachine, nodesIn } from '../state-nodes.ts'
import { inspected, machineOf, refOf } from './verdicts.ts'

/** Names of sessions that are kept for a state or a transition. */
const namesMax = 5
const pageSize = 500
const pauseEvery = 50

type Count = { count: number; sessions: string[] }
type Total = {
  machine: MachineCoverage['machine']
  sessions: number
  states: Map<string, Count>
  transitions: Map<string, Count & { ref: TransitionRef }>
}
/** What one session did in one machine. */
type Seen = { states: Map<string, number>; transitions: Map<string, number> }

type Trace = {
  /** As `formatAddress` writes it. */
  address: string
  /** As it is named in the coverage; default: by its address. */
  name?: string
  /** Frames from a sequence on, in order; fewer than `limit` only at the end. */
  frames: (from: number, limit: number) => Promise<readonly Frame[]>
  /** Lets others have their turn between many commits. */
  pause?: () => Promise<void>
  /** So many of its first commits are those of its origin. */
  shared?: number
}

/** Who hears of what happens in a tree just now: it tells of its first events before anybody has it in hand. */
let hearer: ((told: InspectionEvent) => void) | undefined

class HeardReplica extends Replica {
  override inspect(told: InspectionEvent): void {
    super.inspect(told)
    hearer?.(told)
  }
}

const keyOf = ({ source, eventType, index }: TransitionRef): string => `${source} ${eventType} ${index}`

export class Coverage {
  readonly #registration: Registration
  readonly #totals = new Map<string, Total>()

  /** @param registration of the roots that are added, with all machines below theirs */
  constructor(registration: Registration) {
    this.#registration = inspected(registration)
    this.#declare(registration.machine)
  }

  #declare(machine: AnyStateMachine): void {
    const signature = machineSignature(machine)
    if (this.#totals.has(signature)) return
    const total: Total = { machine: { id: machine.id, signature }, sessions: 0, states: new Map(), transitions: new Map() }
    this.#totals.set(signature, total)
    for (const node of nodesIn(machine.root)) {
      // A history is no state that anybody is in.
      if (node.type !== 'history') total.states.set(node.id, { count: 0, sessions: [] })
      for (const [eventType, transitions] of [['', node.always ?? []] as const, ...node.transitions])
        for (const index of transitions.keys()) {
          const ref = { source: node.id, eventType, index }
          total.transitions.set(keyOf(ref), { ref, count: 0, sessions: [] })
        }
    }
    for (const logic of Object.values(machine.implementations.actors as Record<string, unknown>)) if (isMachine(logic)) this.#declare(logic)
  }

  /**
   * Folds a trace. One that cannot be folded to its end counts for nothing.
   * @param commitsMax more are not folded @returns how many commits that were @throws RuntimeError not_found, corrupt_at, drift, too_large
   */
  async add(trace: Trace, commitsMax = Number.POSITIVE_INFINITY): Promise<number> {
    const { name = trace.address } = trace
    const seen = new Map<string, Seen>()
    const commits = await this.#fold((await this.#own(trace)) ?? trace, commitsMax, listenerOf(seen))
    for (const [signature, { states, transitions }] of seen) {
      const total = this.#totals.get(signature)
      if (!total) continue
      total.sessions++
      for (const [id, count] of states) counted(total.states.get(id), count, name)
      for (const [key, count] of transitions) counted(total.transitions.get(key), count, name)
    }
    return commits
  }

  /** Where this machine has taken over what another one has begun: as if it had recorded all of it. @throws RuntimeError drift where it has not */
  async #own({ frames, ...trace }: Trace): Promise<Trace | undefined> {
    const registration = this.#registration
    const address = parseAddress(trace.address)
    const [first] = await frames(1, 1)
    const { create } = first ? commitOf(first, address) : {}
    if (!create || create.signature === registration.signature || registration.onDrift === 'force') return undefined
    const all: Frame[] = []
    for (let isLast = false; !isLast; ) {
      const page = await frames(all.length + 1, pageSize)
      all.push(...page)
      isLast = page.length < pageSize
    }
    const own = takenOver(address, all, registration)
    if (own)
      return {
        ...trace,
        frames: async (from, limit) => own.slice(from - 1, from - 1 + limit),
        shared: all.filter(({ of }) => of !== undefined).length,
      }
    throw new RuntimeError('drift', `${trace.address} was recorded by another version of its machine`, {
      hint: 'look at it with the machine that recorded it, or have this one take it over with actor.adopt()',
      data: { recorded: create.signature, present: registration.signature },
    })
  }

  async #fold({ address, frames, pause, shared = 0 }: Trace, commitsMax: number, hear: (told: InspectionEvent) => void): Promise<number> {
    const registration = this.#registration
    let replica: Replica | undefined
    let written = address
    for (let next = 1; ; ) {
      const page = await frames(next, pageSize)
      for (const frame of page) {
        const { seq, of } = frame
        if (seq > commitsMax) throw new RuntimeError('too_large', `${address} has more than ${commitsMax} commits`, { hint: 'ask for it alone' })
        const { create, at, epoch, seed, inputs, later, address: writer } = commitOf(frame, parseAddress(address))
        // A fork goes on under its own name with what its origin began. That has been counted there.
        const before: Replica | undefined =
          replica && writer !== written && registration.renamed
            ? new HeardReplica({
                registration,
                input: undefined,
                at,
                epoch,
                snapshot: renamedSnapshot(registration, replica, parseAddress(written), parseAddress(writer)),
              })
            : replica
        written = writer
        replica = listening(of || seq <= shared ? () => undefined : hear, () => {
          const present = create ? new HeardReplica({ registration, input: create.input, at, epoch, seed }) : before
          if (!present) throw new RuntimeError('corrupt_at', `the journal of ${address} does not begin with its creation`, { data: { seq } })
          present.enter(epoch, later)
          present.chance.recorded(seed)
          for (const input of inputs) present.apply(input, at)
          return present
        })
        replica.takeOutputs()
        replica.takeStates()
        if (replica.failure)
          throw new RuntimeError('drift', `commit ${seq} of ${address} makes this machine fail: ${errorBody(replica.failure.error).message}`, {
            cause: replica.failure.error,
            hint: 'look at it with the machine that recorded it',
            data: { seq },
          })
        if (seq % pauseEvery === 0) await pause?.()
      }
      next = (page.at(-1)?.seq ?? next - 1) + 1
      if (page.length < pageSize) {
        if (!replica) throw new RuntimeError('not_found', `there is no ${address}`, { hint: 'its trace is empty' })
        return next - 1
      }
    }
  }

  /** All machines, those of the root first. */
  result(): MachineCoverage[] {
    return [...this.#totals.values()].map(({ machine, sessions, states, transitions }) => ({
      machine,
      sessions,
      states: rareFirst(states).map(([id, { count, sessions: names }]) => ({ id, visits: count, sessions: names })),
      transitions: rareFirst(transitions).map(([, { ref, count, sessions: names }]) => ({ ref, taken: count, sessions: names })),
    }))
  }
}

/** Stable: what is as rare as another stays in the order of the chart. */
const rareFirst = <Of extends Count>(counts: ReadonlyMap<string, Of>): [string, Of][] => [...counts].sort(([, a], [, b]) => a.count - b.count)

const counted = (total: Count | undefined, count: number, name: string): void => {
  if (!total) return
  total.count += count
  if (total.sessions.length < namesMax) total.sessions.push(name)
}

const listening = <Result>(hear: (told: InspectionEvent) => void, work: () => Result): Result => {
  hearer = hear
  try {
    return work()
  } finally {
    hearer = undefined
  }
}

/** Takes down what one tree does. */
const listenerOf = (seen: Map<string, Seen>): ((told: InspectionEvent) => void) => {
  /** The states in which each machine was last. */
  const active = new Map<AnyActorRef, ReadonlySet<string>>()
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  return (told) => {
    if (told.type !== '@xstate.microstep' && told.type !== '@xstate.snapshot') return
    const ref = told.actorRef as AnyActorRef
    const machine = machineOf(ref)
    if (!machine) return
    const here = seen.get(machine.signature) ?? { states: new Map(), transitions: new Map() }
    seen.set(machine.signature, here)
    const before = active.get(ref) ?? new Set()
    const entered = new Set<string>()
    const { _nodes } = told.snapshot as AnyMachineSnapshot
    const now = new Set(_nodes.map(({ id }) => id))
    for (const id of now) if (!before.has(id)) entered.add(id)
    if (told.type === '@xstate.microstep')
      for (const transition of told._transitions) {
        const taken = refOf(transition)
        if (taken) add(here.transitions, keyOf(taken))
        // Left and entered again.
        for (const target of transition.target ?? []) if (now.has(target.id)) entered.add(target.id)
      }
    for (const id of entered) add(here.states, id)
    active.set(ref, now)
  }
}

/** The coverage of two sets of traces together. @param more of the same kind of root, or of others */
export const mergedCoverage = (all: readonly MachineCoverage[], more: readonly MachineCoverage[]): MachineCoverage[] => {
  const merged = new Map(all.map((one) => [one.machine.signature, one]))
  for (const one of more) {
    const before = merged.get(one.machine.signature)
    merged.set(one.machine.signature, before ? together(before, one) : one)
  }
  return [...merged.values()]
}

const together = (a: MachineCoverage, b: MachineCoverage): MachineCoverage => {
  const states = new Map(b.states.map((one) => [one.id, one]))
  const transitions = new Map(b.transitions.map((one) => [keyOf(one.ref), one]))
  return {
    machine: a.machine,
    sessions: a.sessions + b.sessions,
    states: a.states
      .map(({ id, visits, sessions }) => {
        const other = states.get(id)
        return { id, visits: visits + (other?.visits ?? 0), sessions: [...sessions, ...(other?.sessions ?? [])].slice(0, namesMax) }
      })
      .sort((one, other) => one.visits - other.visits),
    transitions: a.transitions
      .map(({ ref, taken, sessions }) => {
        const other = transitions.get(keyOf(ref))
        return { ref, taken: taken + (other?.taken ?? 0), sessions: [...sessions, ...(other?.sessions ?? [])].slice(0, namesMax) }
      })
      .sort((one, other) => one.taken - other.taken),
  }
}
