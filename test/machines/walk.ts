/** Walks one machine by hand: its effects end when the test says so, its parent writes down what it hears, and every transition taken is remembered. */
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyStateMachine,
  type AnyStateNode,
  createActor,
  createMachine,
  fromPromise,
  SimulatedClock,
} from 'xstate'

type Heard = { type: string; [key: string]: unknown }
export type Walk = {
  send(event: { type: string; [key: string]: unknown }): Walk
  /** Sends to a child of the machine. */
  tell(child: string, event: Heard): Walk
  child(id: string): AnyActorRef
  /** Ends the effect that was started last under this name, or the nth one. */
  resolve(effect: string, output: unknown, nth?: number): Promise<Walk>
  reject(effect: string, error: unknown): Promise<Walk>
  /** Lets time pass for delays. */
  pass(ms: number): Walk
  readonly state: unknown
  readonly context: Record<string, any>
  readonly output: any
  /** What it emitted and what its parent was told, since the last look. */
  heard(): Heard[]
  /** Inputs that an effect was started with, in order. */
  inputs(effect: string): any[]
}

type Effect = { name: string; input: unknown; end: PromiseWithResolvers<unknown> }

type Fake = (name: string) => AnyActorLogic
/** @param children logic of child machines, given their own effects to be ended by name */
export const walker = (machine: AnyStateMachine, effects: string[], children: (fake: Fake) => Record<string, AnyActorLogic> = () => ({})) => {
  const taken = new Set<string>()
  let running: Effect[] = []
  const fake: Fake = (name) =>
    fromPromise<unknown, unknown>(({ input }) => {
      const end = Promise.withResolvers<unknown>()
      running.push({ name, input, end })
      return end.promise
    })
  const provided = machine.provide({
    actors: { ...children(fake), ...Object.fromEntries(effects.map((name) => [name, fake(name)])) },
  } as Parameters<AnyStateMachine['provide']>[0])

  const start = (input: unknown): Walk => {
    running = []
    let heard: Heard[] = []
    const clock = new SimulatedClock()
    const nest = createMachine(
      { invoke: { id: 'it', src: 'it', input: () => input as never }, on: { '*': { actions: 'hear' } } },
      { actors: { it: provided }, actions: { hear: ({ event }) => void (event.type.startsWith('xstate.') || heard.push(event)) } },
    )
    let it: AnyActorRef | undefined
    const parent = createActor(nest, {
      clock,
      inspect: (event) => {
        if (event.type === '@xstate.actor' && (event.actorRef as AnyActorRef).id === 'it') {
          it = event.actorRef as AnyActorRef
          it.on('*', (emitted) => void heard.push(emitted as Heard))
        }
        if (event.type === '@xstate.microstep' && (event.actorRef as AnyActorRef).id === 'it')
          for (const transition of (event as unknown as { _transitions: Definition[] })._transitions) taken.add(nameOf(transition))
      },
    })
    parent.subscribe({ error: () => undefined })
    parent.start()
    const settle = async () => {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      return walk
    }
    const effect = (name: string, nth = -1): Effect => {
      const found = running.filter((one) => one.name === name).at(nth)
      if (!found) throw new Error(`no effect '${name}' was started`)
      return found
    }
    const walk: Walk = {
      send(event) {
        it?.send(event)
        return walk
      },
      tell(child, event) {
        it?.getSnapshot().children[child].send(event)
        return walk
      },
      child: (id) => it?.getSnapshot().children[id],
      resolve(name, output, nth) {
        effect(name, nth).end.resolve(output)
        return settle()
      },
      reject(name, error) {
        effect(name).end.reject(error)
        return settle()
      },
      pass(ms) {
        clock.increment(ms)
        return walk
      },
      get state() {
        return it?.getSnapshot().value
      },
      get context() {
        return it?.getSnapshot().context
      },
      get output() {
        return it?.getSnapshot().output
      },
      heard() {
        const now = heard
        heard = []
        return now
      },
      inputs: (name) => running.flatMap((one) => (one.name === name ? [one.input] : [])),
    }
    return walk
  }

  return {
    start,
    /** Transitions of the chart that no walk has taken. */
    missed: (): string[] => [...definitions(provided.root)].map(nameOf).filter((name) => !taken.has(name)),
  }
}

type Definition = {
  source: AnyStateNode
  eventType: string
  guard?: unknown
  target?: readonly AnyStateNode[]
}

/** As the tables of the charts name it: state, event, guard, next. */
const nameOf = ({ source, eventType, guard, target }: Definition): string => {
  const name = typeof guard === 'string' ? guard : ((guard as { type?: string } | undefined)?.type ?? '')
  return `${source.id} | ${eventType || 'always'} | ${name} | ${(target ?? []).map(({ id }) => id).join(', ')}`
}

function* definitions(node: AnyStateNode): Generator<Definition> {
  yield* [...node.transitions.values()].flat() as unknown as Definition[]
  yield* (node.always ?? []) as unknown as Definition[]
  for (const child of Object.values(node.states)) yield* definitions(child as AnyStateNode)
}
