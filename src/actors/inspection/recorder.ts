/** Writes down what happens in a tree while inputs are applied: who began, what was delivered, what each machine decided, and why. */
import type { AnyActorRef, AnyMachineSnapshot, AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate'
import type { Candidate, Rest, Step } from '../../contracts/inspection.ts'
import type { AnyEvent } from '../../contracts/journal.ts'
import { actorPath } from '../replica/paths.ts'
import { parentOf } from '../replica/xstate-hooks.ts'
import { type ShownSize, shown } from './shown.ts'
import { guardOf, machineOf, refOf, type Verdict } from './verdicts.ts'

export type NodesOf = { _nodes?: AnyStateNode[] }

type RestOf = (ref: AnyActorRef) => Rest
/** @property rest what to say of an actor that has come to rest, besides its state @property decisions whether it is told what machines decided; default true */
type RecorderOptions = ShownSize & { rest?: RestOf; decisions?: boolean }

export class Recorder {
  readonly steps: Step[] = []
  /** What guards have answered since the last decision. */
  readonly verdicts = new Map<AnyTransitionDefinition, Verdict>()
  readonly #size: ShownSize
  /** Of machines that are in the middle of an event: the states from which they decide next. */
  readonly #within = new Map<AnyActorRef, AnyMachineSnapshot>()
  readonly #events = new Map<AnyActorRef, AnyEvent>()

  readonly #rest: RestOf | undefined
  readonly #decides: boolean

  constructor({ rest, decisions = true, ...size }: RecorderOptions = {}) {
    this.#size = size
    this.#rest = rest
    this.#decides = decisions
  }

  hear(told: InspectionEvent): void {
    const ref = told.actorRef as AnyActorRef
    const path = actorPath(ref)
    if (told.type === '@xstate.actor') {
      const parent = parentOf(ref)
      const src = typeof ref.src === 'string' && parent ? ref.src : undefined
      this.steps.push({ type: 'actor', path, parent: parent && actorPath(parent), src, machine: machineOf(ref) })
    } else if (told.type === '@xstate.event') this.#event(ref, path, told)
    else if (told.type === '@xstate.microstep') {
      if (!this.#decides) return
      const { event, snapshot, _transitions: taken } = told
      this.#decided(ref, path, event, taken, snapshot as AnyMachineSnapshot)
    } else if (told.type === '@xstate.snapshot') this.#rested(ref, path, told.snapshot as AnyMachineSnapshot)
  }

  #event(ref: AnyActorRef, path: string, { event, sourceRef }: Extract<InspectionEvent, { type: '@xstate.event' }>): void {
    this.#events.set(ref, event)
    if (event.type === 'xstate.init') return
    this.steps.push({ type: 'event', path, from: sourceRef && actorPath(sourceRef as AnyActorRef), event: this.#shown(event) as AnyEvent })
  }

  #decided(ref: AnyActorRef, path: string, event: AnyEvent, taken: AnyTransitionDefinition[], after: AnyMachineSnapshot): void {
    const before = this.#within.get(ref) ?? (ref.getSnapshot() as AnyMachineSnapshot | undefined)
    this.#within.set(ref, after)
    const isFirst = event.type === 'xstate.init' && !taken.some(({ eventType }) => eventType === '')
    const candidates = isFirst ? [] : this.#candidates(before, event, taken)
    this.#step(path, event, taken, candidates, after.value)
  }

  #step(path: string, event: AnyEvent, taken: AnyTransitionDefinition[], candidates: Candidate[], value: unknown): void {
    this.verdicts.clear()
    if (taken.length === 0 && candidates.length === 0) return
    const refs = taken.flatMap((one) => refOf(one) ?? [])
    this.steps.push({ type: 'microstep', path, event: this.#shown(event) as AnyEvent, taken: refs, candidates, value: shown(value) })
  }

  #rested(ref: AnyActorRef, path: string, snapshot: AnyMachineSnapshot): void {
    // Guards that were asked, and all said no, or threw: nothing was decided, and that is what somebody wants to see.
    const before = this.#within.get(ref) ?? snapshot
    const event = this.#events.get(ref)
    const asked = this.verdicts.size > 0 && event ? this.#candidates(before, event, []).filter(({ verdict }) => verdict !== 'unasked') : []
    if (event && this.#decides) this.#step(path, event, [], asked, snapshot.value)
    this.#within.delete(ref)
    const told = this.#rest && { event: this.#shown(event) as AnyEvent | undefined, rest: this.#rest(ref) }
    this.steps.push({ type: 'snapshot', path, status: snapshot.status, value: shown(snapshot.value), ...told })
  }

  /** In the order in which XState asks: eventless ones before the next event, inner states before outer ones. */
  #candidates(before: AnyMachineSnapshot | undefined, event: AnyEvent, taken: AnyTransitionDefinition[]): Candidate[] {
    // One that just begins has no states yet that anybody could ask for: those that were asked are among them.
    const sources = [...taken, ...this.verdicts.keys()].map(({ source }) => source)
    const nodes = innermostFirst((before as NodesOf | undefined)?._nodes ?? withOuter(sources))
    const isEventless = taken.some(({ eventType }) => eventType === '')
    const asksAlways = isEventless || (taken.length === 0 && [...this.verdicts.keys()].some(({ eventType }) => eventType === ''))
    const asked = [
      ...(asksAlways ? nodes.flatMap(({ always = [] }) => always) : []),
      ...(isEventless ? [] : nodes.flatMap((node) => transitionsFor(node, event.type))),
    ]
    return asked.flatMap((transition): Candidate[] => {
      const ref = refOf(transition)
      if (!ref) return []
      const verdict = this.verdicts.get(transition)
      const guard = guardOf(transition)
      const says = verdict?.says ?? (taken.includes(transition) ? 'free' : 'unasked')
      return [
        {
          ...ref,
          verdict: says,
          ...(guard === undefined ? {} : { guard }),
          ...(verdict && verdict.reads.length > 0 ? { reads: verdict.reads } : {}),
          ...(verdict?.error === undefined ? {} : { error: verdict.error }),
        },
      ]
    })
  }

  #shown(value: unknown): unknown {
    const { textMax, sizeMax } = this.#size
    return shown(value, { textMax, room: sizeMax === undefined ? undefined : { left: sizeMax } })
  }
}

const withOuter = (nodes: readonly AnyStateNode[]): AnyStateNode[] => {
  const all = new Set<AnyStateNode>()
  for (const node of nodes) for (let at: AnyStateNode | undefined = node; at; at = at.parent) all.add(at)
  return [...all]
}

/** Leaves in the order in which they are written, each followed by those around it that were not named yet. */
export const innermostFirst = (nodes: readonly AnyStateNode[]): AnyStateNode[] => {
  const active = new Set(nodes)
  const ordered = new Set<AnyStateNode>()
  const leaves = nodes.filter((node) => !Object.values(node.states).some((child) => active.has(child))).sort((a, b) => a.order - b.order)
  for (const leaf of leaves) for (let at: AnyStateNode | undefined = leaf; at; at = at.parent) ordered.add(at)
  return [...ordered]
}

/** As XState finds them: those of the event itself, then those of patterns, the longest first. */
const transitionsFor = (node: AnyStateNode, type: string): AnyTransitionDefinition[] => [
  ...(node.transitions.get(type) ?? []),
  ...[...node.transitions.keys()]
    .filter((pattern) => pattern !== type && fits(pattern, type))
    .sort((a, b) => b.length - a.length)
    .flatMap((pattern) => node.transitions.get(pattern) ?? []),
]

const fits = (pattern: string, type: string): boolean => {
  if (pattern === '*') return !type.startsWith('xstate.') || type === '*'
  return pattern.endsWith('.*') && (type === pattern.slice(0, -2) || type.startsWith(pattern.slice(0, -1)))
}
