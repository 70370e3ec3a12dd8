import { expect, test } from 'vitest'
import { and, assign, createMachine, fromCallback, fromPromise, not, or, raise, sendTo, setup, stateIn } from 'xstate'
import { activeNodes, type ChartNode, chart, named, namesBelow, nodesOf, toJson } from '../../../src/actors/charts/chart.ts'
import { toScxml } from '../../../src/actors/charts/scxml.ts'
import { machineSignature } from '../../../src/actors/charts/signature.ts'

/** One node of a machine's chart. */
const node = (machine: Parameters<typeof chart>[0], id: string): ChartNode => {
  const found = [...nodesOf(chart(machine).root)].find((candidate) => candidate.id === id)
  if (!found) throw new Error(`no node ${id}`)
  return found
}
const events = (of: ChartNode) => of.transitions.map(({ event }) => event)

const turn = setup({
  actors: { callModel: fromPromise<string>(() => Promise.reject(new Error('not provided'))), watch: fromCallback(() => undefined) },
  actions: { record: () => undefined, start: () => undefined, leave: () => undefined, ping: raise({ type: 'ping' }) },
  guards: { left: () => true, urgent: () => false },
  delays: { backoff: 100 },
}).createMachine({
  id: 'turn',
  version: '3',
  description: 'one turn',
  initial: 'calling',
  on: { cancel: '.cancelled' },
  states: {
    calling: {
      tags: ['busy'],
      description: 'the model works',
      entry: 'start',
      exit: ['leave', { type: 'record' }],
      invoke: [
        {
          src: 'callModel',
          onDone: { target: 'deciding', actions: 'record' },
          onError: [{ guard: 'left', target: 'waiting' }, { target: 'failed' }],
        },
        { src: 'watch', id: 'watcher', onSnapshot: { actions: 'record' } },
      ],
      after: { 5000: { target: 'failed', description: 'too slow' } },
    },
    waiting: { after: { backoff: 'calling' } },
    deciding: { always: [{ guard: and(['left', not('urgent')]), target: 'calling', reenter: true }, { target: 'completed' }] },
    completed: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
})

test('the chart holds what machine.definition leaves out: always transitions with their guards', () => {
  expect(node(turn, 'turn.deciding').transitions).toEqual([
    {
      event: 'always',
      eventType: '',
      source: 'turn.deciding',
      targets: ['turn.calling'],
      guard: 'left and (not urgent)',
      actions: [],
      reenter: true,
    },
    { event: 'always', eventType: '', source: 'turn.deciding', targets: ['turn.completed'], actions: [], reenter: false },
  ])
})

test('generated event names become words, the original name stays beside them', () => {
  const { transitions } = node(turn, 'turn.calling')

  expect(transitions.map(({ event, targets, guard }) => [event, targets[0], guard])).toEqual([
    ['done(callModel)', 'turn.deciding', undefined],
    ['error(callModel)', 'turn.waiting', 'left'],
    ['error(callModel)', 'turn.failed', undefined],
    ['snapshot(watcher)', undefined, undefined],
    ['after 5 s', 'turn.failed', undefined],
  ])
  expect(transitions.map(({ eventType }) => eventType)).toContain('xstate.done.actor.0.turn.calling')
  expect(transitions.at(-1)).toMatchObject({ delay: 5000, description: 'too slow', eventType: 'xstate.after.5000.turn.calling' })
  expect(node(turn, 'turn.waiting').transitions).toMatchObject([{ event: 'after backoff', delay: 'backoff' }])
})

test('entry and exit are those of the author, without the timers of after', () => {
  expect(node(turn, 'turn.calling')).toMatchObject({
    entry: ['start'],
    exit: ['leave', 'record'],
    invoke: [
      { id: '0.turn.calling', src: 'callModel' },
      { id: 'watcher', src: 'watch' },
    ],
    tags: ['busy'],
    description: 'the model works',
  })
})

test('drawing a machine that has run gives the same chart as before', () => {
  const before = toJson(chart(turn))
  for (const state of Object.values(turn.root.states)) void [state.after, state.on, state.events]

  expect(toJson(chart(turn))).toBe(before)
  expect(JSON.parse(before)).toMatchObject({ id: 'turn', version: '3', root: { type: 'compound', initial: 'turn.calling', description: 'one turn' } })
})

test('parallel, nested and history states keep their types, initial states and default targets', () => {
  const player = createMachine({
    id: 'player',
    type: 'parallel',
    states: {
      sound: {
        initial: 'on',
        states: { on: { on: { mute: 'off' } }, off: {}, was: { type: 'history', history: 'deep', target: 'off' }, last: { type: 'history' } },
      },
      light: { initial: 'dim', states: { dim: { initial: 'a', states: { a: {}, end: { type: 'final' } }, onDone: 'bright' }, bright: {} } },
    },
    onDone: { actions: 'log' },
  })

  expect(chart(player).root.type).toBe('parallel')
  expect(node(player, 'player.sound.was')).toMatchObject({
    type: 'history',
    history: 'deep',
    transitions: [{ event: 'default', targets: ['player.sound.off'] }],
  })
  expect(node(player, 'player.sound.last')).toMatchObject({ type: 'history', history: 'shallow', transitions: [] })
  expect(node(player, 'player.light.dim').transitions).toMatchObject([{ event: 'done', targets: ['player.light.bright'] }])
  expect(node(player, 'player.sound')).toMatchObject({ initial: 'player.sound.on' })
})

test('a history target given by id is resolved to the node', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    states: { a: {}, h: { type: 'history', target: '#m.b.c' }, b: { initial: 'c', states: { c: {} } } },
  })

  expect(node(machine, 'm.h').transitions[0]?.targets).toEqual(['m.b.c'])
})

test('wildcards, forbidden events, several targets and custom ids are kept', () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    states: {
      a: { on: { '*': 'p', 'tool.*': { actions: 'note' }, never: {}, both: { target: ['p.x.two', 'p.y.two'] } } },
      p: {
        id: 'own',
        type: 'parallel',
        states: { x: { initial: 'one', states: { one: {}, two: {} } }, y: { initial: 'one', states: { one: {}, two: {} } } },
      },
    },
  })

  expect(events(node(machine, 'm.a'))).toEqual(['*', 'tool.*', 'never', 'both'])
  expect(node(machine, 'm.a').transitions.map(({ targets }) => targets)).toEqual([['own'], [], [], ['m.p.x.two', 'm.p.y.two']])
})

test("XState's own actions and guards are named by what they do, functions written in place as inline", () => {
  const named = () => true
  const machine = createMachine({
    id: 'm',
    initial: 'a',
    states: {
      a: {
        entry: [raise({ type: 'go' }, { delay: 1500 }), sendTo('other', { type: 'hi' }), assign({ count: 1 }), () => undefined],
        on: {
          go: [
            { guard: or(['left', 'right']), target: 'b' },
            { guard: stateIn({ a: 'x' }), target: 'b' },
            { guard: named, target: 'b' },
            { guard: () => true, target: 'b' },
          ],
        },
      },
      b: {},
    },
  })

  expect(node(machine, 'm.a').entry).toEqual(['raise(go) after 1.5 s', 'send(hi) to other', 'assign(count)', '(inline)'])
  expect(node(machine, 'm.a').transitions.map(({ guard }) => guard)).toEqual(['left or right', 'in a.x', 'named', '(inline)'])
})

test('a routable state is drawn without the test that XState adds', () => {
  const machine = setup({ guards: { allowed: () => true } }).createMachine({
    id: 'm',
    initial: 'a',
    states: { a: {}, b: { id: 'b', route: {} }, c: { id: 'c', route: { guard: 'allowed' } } },
  })

  expect(chart(machine).root.transitions).toMatchObject([
    { event: 'route(b)', targets: ['b'] },
    { event: 'route(c)', targets: ['c'], guard: 'allowed' },
  ])
  expect(chart(machine).root.transitions[0]).not.toHaveProperty('guard')
})

test('active nodes follow a state value, and skip keys of another version', () => {
  const { root } = chart(createMachine({ id: 'm', type: 'parallel', states: { a: { initial: 'x', states: { x: {}, y: {} } }, b: {} } }))
  const active = (value: Parameters<typeof activeNodes>[1]) => [...activeNodes(root, value)].map(({ id }) => id)

  expect(active({ a: 'y', b: {} })).toEqual(['m', 'm.a', 'm.a.y', 'm.b'])
  expect(active({ a: 'gone', constructor: {} })).toEqual(['m', 'm.a'])
  expect(active('b')).toEqual(['m', 'm.b'])
})

test('a machine without an id is drawn under the name that it is given, those below it under the names of their actors; its signature stays', () => {
  const item = setup({}).createMachine({ initial: 'packed', states: { packed: { on: { send: 'sent' } }, sent: { type: 'final' } } })
  const order = setup({ actors: { item } }).createMachine({
    initial: 'new',
    states: { new: { after: { 300: 'placed' }, invoke: { src: 'item', onDone: 'placed' } }, placed: { type: 'final' } },
  })
  const before = machineSignature(order)

  const drawn = named(order, 'order')

  expect(namesBelow(order, 'order')).toEqual({ [before]: 'order', [machineSignature(item)]: 'item' })
  expect([...nodesOf(chart(drawn).root)].map(({ id }) => id)).toEqual(['order', 'order.new', 'order.placed'])
  expect(toJson(chart(drawn)) + toScxml(drawn)).not.toMatch(/[(_]machine/)
  expect(machineSignature(order)).toBe(before)
})

test('a machine that has an id, or that calls itself as XState does, is drawn as it is', () => {
  const itself = createMachine({ initial: 'a', states: { a: { on: { go: '#(machine).b' } }, b: {} } })

  expect(named(turn, 'other')).toBe(turn)
  expect(namesBelow(turn, 'other')).toEqual({ [machineSignature(turn)]: 'turn' })
  expect(named(itself, 'other')).toBe(itself)
})
