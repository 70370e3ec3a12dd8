/** What an actor was at one commit, with the questions that XState users ask of a snapshot. */
import { type AnyStateMachine, type EventFrom, matchesState, type OutputFrom, type SnapshotFrom, type StateValue } from 'xstate'
import { type ActorView, type ChildView, shown } from '../actors/index.ts'
import { RuntimeError } from '../contracts/errors.ts'

type Status = 'active' | 'done' | 'error' | 'stopped'

/** An actor below another one, as it was then. */
export interface ActorChild {
  readonly id: string
  /** Its name under `setup({ actors })`. */
  readonly src: string | undefined
  getSnapshot(): ChildSnapshot
  /** @throws RuntimeError unsupported, with the cure */
  send(event: unknown): never
}

/** The same for an actor of which only the name is known here. */
export interface ChildSnapshot<Machine extends AnyStateMachine = AnyStateMachine> {
  readonly status: Status
  readonly value: SnapshotFrom<Machine>['value']
  readonly context: SnapshotFrom<Machine>['context']
  readonly output: OutputFrom<Machine> | undefined
  readonly error: unknown
  readonly tags: ReadonlySet<string>
  readonly children: Readonly<Record<string, ActorChild | undefined>>
  matches(state: Parameters<SnapshotFrom<Machine>['matches']>[0]): boolean
  hasTag(tag: Parameters<SnapshotFrom<Machine>['hasTag']>[0]): boolean
  /** Whether the event would make a transition now. @throws RuntimeError drift where this state is none of the machine here */
  can(event: EventFrom<Machine>): boolean
  /** @throws RuntimeError drift */
  getMeta(): ReturnType<SnapshotFrom<Machine>['getMeta']>
}

/** @property seq the commit of which this is the state */
export interface ActorSnapshot<Machine extends AnyStateMachine = AnyStateMachine> extends ChildSnapshot<Machine> {
  readonly seq: number
  readonly epoch: number
}

class Seen implements ChildSnapshot {
  readonly status: Status
  readonly value: StateValue
  readonly context: unknown
  readonly output: unknown
  readonly error: unknown
  readonly tags: ReadonlySet<string>
  readonly children: Readonly<Record<string, ActorChild>>
  readonly #machine: AnyStateMachine | undefined
  #whole: SnapshotFrom<AnyStateMachine> | undefined

  constructor({ status, value, context, output, error, tags = [], children = {} }: ActorView, machine: AnyStateMachine | undefined) {
    this.status = status
    this.value = value as StateValue
    this.context = context
    this.output = output
    this.error = error
    this.tags = new Set(tags)
    this.children = Object.fromEntries(Object.entries(children).map(([id, child]) => [id, childOf(id, child, machine)]))
    this.#machine = machine
  }

  matches(state: StateValue): boolean {
    return this.value !== undefined && matchesState(state, this.value)
  }

  hasTag(tag: string): boolean {
    return this.tags.has(tag)
  }

  can(event: { type: string }): boolean {
    return this.#resolved()?.can(event) ?? false
  }

  getMeta(): Record<string, unknown> {
    return this.#resolved()?.getMeta() ?? {}
  }

  /** As plain data: tags are a list, a child is its state with its name under `setup({ actors })`, and what JSON cannot hold is shown as what it is. */
  toJSON(): object {
    const { status, value, context, output, error, tags, children } = this
    const below = Object.entries(children).map(([id, { src, getSnapshot }]) => [id, { src, ...(getSnapshot() as Seen).toJSON() }])
    return {
      status,
      value,
      context: shown(context),
      output: shown(output),
      error: shown(error),
      tags: [...tags],
      children: Object.fromEntries(below),
    }
  }

  /** As XState sees it. It is made here, since functions do not come from where the actor is. Undefined for an effect, which has no states. */
  #resolved(): SnapshotFrom<AnyStateMachine> | undefined {
    const { status, value, context, output, error } = this
    if (this.#machine === undefined || value === undefined) return undefined
    try {
      this.#whole ??= this.#machine.resolveState({ status, value, context, output, error })
    } catch (cause) {
      throw new RuntimeError('drift', `the machine '${this.#machine.id}' of this process has no state ${JSON.stringify(value)}`, {
        hint: 'run the version of the app here that the node of the actor runs',
        cause,
      })
    }
    return this.#whole
  }
}

class SeenAtCommit extends Seen implements ActorSnapshot {
  readonly seq: number
  readonly epoch: number

  constructor(view: ActorView, machine: AnyStateMachine, { seq, epoch }: { seq: number; epoch: number }) {
    super(view, machine)
    this.seq = seq
    this.epoch = epoch
  }

  override toJSON(): object {
    return { ...super.toJSON(), seq: this.seq, epoch: this.epoch }
  }
}

const childOf = (id: string, view: ChildView, parent: AnyStateMachine | undefined): ActorChild => {
  const logic: unknown = view.src === undefined ? undefined : (parent?.implementations.actors as Record<string, unknown> | undefined)?.[view.src]
  const machine = typeof (logic as AnyStateMachine | undefined)?.resolveState === 'function' ? (logic as AnyStateMachine) : undefined
  const snapshot = new Seen(view, machine)
  return {
    id,
    src: view.src,
    getSnapshot: () => snapshot,
    send() {
      throw new RuntimeError('unsupported', `'${id}' takes its events from its parent`, {
        hint: `send the actor itself an event that its machine passes on: actions: sendTo('${id}', …)`,
      })
    },
  }
}

/** @param machine the one of this process */
export const snapshotOf = (view: ActorView, machine: AnyStateMachine, commit: { seq: number; epoch: number }): ActorSnapshot =>
  new SeenAtCommit(view, machine, commit)
