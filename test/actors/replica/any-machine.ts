/** Machines of any shape that the step by table knows, and the same ones that it does not: made from data, so that each can be built twice. */
import fc from 'fast-check'
import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  emit,
  enqueueActions,
  log,
  not,
  or,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate'

type Anything = any
/** Chooses one of several, and remembers what for when a failing machine is made smaller. */
export type Pick = <T>(...of: T[]) => T
export const picking =
  (g: fc.GeneratorValue): Pick =>
  (...of) =>
    g(() => fc.constantFrom(...of))

type Tree = { id: string; type: 'atomic' | 'compound' | 'final'; states: Tree[] }

const treeOf = (pick: Pick, depth: number, count = { nodes: 0 }): Tree => {
  const id = `n${count.nodes++}`
  const type = depth === 0 ? 'compound' : depth === 3 ? pick('atomic', 'final') : pick('atomic', 'atomic', 'compound', 'final')
  const states = type === 'compound' ? Array.from({ length: pick(1, 2, 3) }, () => treeOf(pick, depth + 1, count)) : []
  return { id, type, states }
}
const idsOf = ({ id, states }: Tree): string[] => [id, ...states.flatMap(idsOf)]

// biome-ignore format: a list
const actions = [
  'inc', 'mark', 'raise', 'later', 'sooner', 'say', 'self', 'toKid', 'spawn', 'assignSpawn', 'stop', 'maybe', 'log', 'parent', 'fails', 'missing', 'nothing',
]
const events = ['a', 'b', 'c', 'd.x', 'd.y']

const some = <T>(pick: Pick, most: number, make: () => T): T[] => Array.from({ length: pick(...Array.from({ length: most + 1 }, (_, n) => n)) }, make)

const actionOf = (pick: Pick): unknown =>
  pick<() => unknown>(
    () => pick(...actions),
    () => pick(...actions),
    () => ({ type: 'add', params: { by: pick(1, 2) } }),
    () => ({ type: 'add', params: ({ context }: Anything) => ({ by: context.n }) }),
  )()
const guardOf = (pick: Pick, ids: string[]): unknown => {
  const where = stateIn(`#${pick(...ids)}`)
  return pick<unknown>(
    'even',
    'few',
    'fails',
    { type: 'atLeast', params: { n: pick(1, 3) } },
    where,
    not(where as never),
    and(['few', not('even')] as never),
    or(['even', where] as never),
  )
}
const transitionOf = (pick: Pick, ids: string[], guarded: boolean): object => ({
  ...(guarded || pick(true, false) ? { guard: guardOf(pick, ids) } : {}),
  ...(pick(true, true, false) ? { target: `#${pick(...ids)}` } : {}),
  ...(pick(true, false, false) ? { reenter: true } : {}),
  actions: some(pick, 2, () => actionOf(pick)),
})

const configOf = (pick: Pick, tree: Tree, ids: string[]): object => {
  const transitions = (guarded = false) => some(pick, 2, () => transitionOf(pick, ids, guarded))
  const entry = some(pick, 2, () => actionOf(pick))
  const exit = some(pick, 1, () => actionOf(pick))
  const common = { id: tree.id, tags: some(pick, 2, () => pick('warm', 'cold')), meta: pick<unknown>(undefined, tree.id), entry, exit }
  if (tree.type === 'final') return { ...common, type: 'final', output: pick<unknown>(undefined, 1, ({ context }: Anything) => context.n) }
  const on = Object.fromEntries(some(pick, 3, () => [pick(...events, '*', 'd.*', 'd.x'), pick(transitions(), transitions(), undefined)]))
  const invoke = pick(false, false, true)
    ? [
        {
          src: 'kid',
          id: `kid of ${tree.id}`,
          input: { n: 1 },
          ...(pick(true, false) ? { onDone: transitions() } : {}),
          ...(pick(true, false) ? { onError: transitions() } : {}),
          ...(pick(true, false, false) ? { onSnapshot: transitions() } : {}),
        },
      ]
    : []
  // To an actor that is invoked only after these actions.
  if (invoke.length > 0 && pick(true, false)) entry.push(sendTo(`kid of ${tree.id}`, { type: pick('a', 'b') }))
  const rest = {
    on,
    invoke,
    ...(pick(true, false) ? { always: transitions(true) } : {}),
    ...(pick(true, false, false) ? { after: { [pick('10', 'soon')]: transitions() } } : {}),
  }
  if (tree.type === 'atomic') return { ...common, ...rest }
  const first = `${pick(...tree.states).id}`
  return {
    ...common,
    ...rest,
    ...(tree.id === 'n0' ? {} : { onDone: transitions() }),
    initial: pick<unknown>(first, { target: first, actions: [actionOf(pick)] }),
    states: Object.fromEntries(tree.states.map((state) => [state.id, configOf(pick, state, ids)])),
  }
}

/** A machine as data. */
export type Spec = { config: Anything; isMade: boolean }
export const specOf = (pick: Pick): Spec => {
  const tree = treeOf(pick, 0)
  const output = pick(undefined, ({ context, event }: Anything) => [context.n, event.output])
  return { config: { ...configOf(pick, tree, idsOf(tree)), output, options: { maxIterations: 12 } }, isMade: pick(true, false) }
}

/** @param step what becomes of each machine once it is made @param told what its custom actions tell @param maySend false ends circles */
export const buildMachine = (
  [spec, ...children]: Spec[],
  step: (machine: AnyStateMachine) => AnyStateMachine,
  told: (...what: unknown[]) => void,
  maySend: () => boolean,
): AnyStateMachine => {
  const kid = children.length > 0 ? buildMachine(children, step, told, maySend) : step(lastKid())
  const sent = (send: (args: Anything) => void) => enqueueActions((args: Anything) => maySend() && send(args))
  const { config, isMade } = spec as Spec
  const context = { n: 0 }
  const machine = setup({
    types: {} as { context: Anything; events: Anything; input: Anything; output: Anything },
    actors: { kid },
    delays: { soon: ({ context }: Anything) => 5 + context.n },
    guards: {
      even: ({ context }: Anything) => context.n % 2 === 0,
      few: ({ context }: Anything) => context.n < 6,
      atLeast: ({ context }: Anything, { n }: Anything) => context.n >= n,
      fails: ({ context }: Anything) => {
        if (context.n === 5) throw new Error('five')
        return context.n > 2
      },
    },
    actions: {
      inc: assign({ n: ({ context }: Anything) => context.n + 1 }),
      add: assign(({ context }: Anything, { by }: Anything) => ({ n: context.n + by })),
      mark: ({ context, event, self }: Anything, params: unknown) => told('mark', self.id, context.n, event.type, params, self.getSnapshot()?.value),
      raise: raise({ type: 'd.x' }),
      later: raise(({ context }: Anything): Anything => ({ type: 'c', n: context.n }), { delay: 7, id: 'later' }),
      sooner: cancel('later'),
      say: emit(({ context }: Anything): Anything => ({ type: 'said', n: context.n })),
      self: sent(({ enqueue, self }) => enqueue.sendTo(self, { type: 'b' })),
      toKid: sent(({ enqueue, self }) => enqueue.sendTo(Object.keys(self.getSnapshot()?.children ?? {})[0] ?? self, { type: 'a' })),
      spawn: spawnChild('kid', { id: 'spawned', input: ({ context }: Anything) => ({ n: context.n }) }),
      assignSpawn: assign({ ref: ({ spawn }: Anything) => spawn('kid', { id: 'held', input: { n: 2 } }) }),
      stop: stopChild(({ context }: Anything) => context.ref ?? 'spawned'),
      maybe: enqueueActions(({ enqueue, check, context }: Anything) => {
        if (check('even')) enqueue.assign({ n: context.n + 1 })
        enqueue('mark')
        if (check({ type: 'atLeast', params: { n: 3 } })) enqueue.emit({ type: 'said', n: -1 })
        if (check(stateIn('#n1'))) enqueue.assign({ n: ({ context }: Anything) => context.n + 2 })
      }),
      log: log(({ context }: Anything) => `n is ${context.n}`, 'told'),
      parent: sent(({ enqueue, self }) => self._parent && enqueue(sendParent({ type: 'b' }))),
      fails: ({ context }: Anything) => {
        if (context.n === 4) throw new Error('four')
      },
      nothing: () => {},
    },
  } as Anything).createMachine({ ...config, context: isMade ? ({ input }: Anything) => ({ ...context, n: input?.n ?? 0 }) : context })
  return step(machine as AnyStateMachine)
}

const lastKid = (): AnyStateMachine =>
  setup({ actions: { tell: sendParent({ type: 'c' }) } }).createMachine({
    context: ({ input }: Anything) => ({ n: input?.n ?? 0 }),
    initial: 'calm',
    states: {
      calm: { on: { a: 'told', b: { actions: raise({ type: 'oops' }) }, oops: 'broken' } },
      told: { entry: 'tell', after: { 3: 'over' } },
      broken: {
        entry: () => {
          throw new Error('broken')
        },
      },
      over: { type: 'final' },
    },
    output: ({ context }: Anything) => context.n,
  } as Anything) as AnyStateMachine
