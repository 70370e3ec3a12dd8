/** Machines that use all of XState, each with a story: what is sent to it, what its effects do, how time passes. */
import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  emit,
  enqueueActions,
  forwardTo,
  fromTransition,
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
import type { Puppets, Step } from './support.ts'

export type Case = {
  name: string
  machine: (puppets: Puppets) => AnyStateMachine
  steps: Step[]
  /** What is logged under the root host only, on purpose. */
  beyond?: string[]
}
type Types = { context: any; events: any; emitted: any; input: any; output: any }
const types = {} as Types
const send = (type: string, more: object = {}): Step => ({ send: { type, ...more } })
const wait = (ms: number): Step => ({ wait: ms })
/** Two actions, so that their order shows. */
const noted = (p: Puppets) => ({ in: p.action('in'), out: p.action('out'), act: p.action('act'), more: p.action('more') })

const nested: Case = {
  name: 'nested states, reentry, wildcards, guards and parameters',
  machine: (p) =>
    setup({
      types,
      actions: { ...noted(p), count: assign({ n: ({ context }: any, params: any) => context.n + (params?.by ?? 1) }) },
      guards: { few: ({ context }) => context.n < 3, many: ({ context }, params: any) => context.n >= params.least },
    }).createMachine({
      id: 'nested',
      context: ({ input }: any) => ({ n: input?.n ?? 0 }),
      initial: 'a',
      entry: 'in',
      states: {
        a: {
          initial: 'a1',
          entry: 'in',
          exit: 'out',
          states: {
            a1: { entry: 'in', exit: 'out', on: { down: 'a2' } },
            a2: { entry: ['act', 'more'], on: { up: { target: 'a1', actions: 'act' } } },
          },
          on: {
            again: { target: 'a', reenter: true, actions: 'act' },
            same: { target: '.a2' },
            go: [
              { guard: and(['few', not(stateIn({ a: 'a2' }))]), actions: { type: 'count', params: { by: 2 } } },
              { guard: or([{ type: 'many', params: { least: 9 } }, stateIn({ a: 'a2' })]), target: 'b' },
            ],
            'some.*': { actions: 'more' },
          },
        },
        b: {
          entry: 'in',
          on: { '*': { target: 'c', actions: 'act' }, stay: {} },
          always: { guard: { type: 'many', params: { least: 100 } }, target: 'c' },
        },
        c: { type: 'final', output: ({ context }: any) => context.n },
      },
      output: ({ event }: any) => ({ got: event.output }),
    }),
  steps: ['down', 'up', 'again', 'go', 'go', 'go', 'some.thing', 'some', 'same', 'go', 'stay', 'anything', 'late'].map((type) => send(type)),
}

const parallel: Case = {
  name: 'parallel regions, history shallow and deep, onDone',
  machine: (p) =>
    setup({ types, actions: noted(p) }).createMachine({
      id: 'parallel',
      initial: 'work',
      states: {
        work: {
          type: 'parallel',
          exit: 'out',
          states: {
            left: {
              initial: 'l1',
              states: {
                l1: { on: { left: 'l2' }, exit: 'out' },
                l2: { initial: 'x', states: { x: { on: { deep: 'y' } }, y: { entry: 'in', on: { finish: '#parallel.work.left.end' } } } },
                end: { type: 'final' },
                hist: { type: 'history' },
                deep: { type: 'history', history: 'deep' },
              },
            },
            right: {
              initial: 'r1',
              states: { r1: { on: { right: 'r2', both: 'r2' } }, r2: { entry: 'act', on: { finish: 'end' } }, end: { type: 'final' } },
            },
          },
          onDone: { target: 'done', actions: 'more' },
          on: { pause: 'paused' },
        },
        paused: { on: { shallow: 'work.left.hist', back: 'work.left.deep', fresh: 'work' } },
        done: { type: 'final' },
      },
    }),
  steps: ['left', 'right', 'deep', 'pause', 'shallow', 'deep', 'pause', 'back', 'pause', 'fresh', 'left', 'deep', 'both', 'finish', 'x'].map((type) =>
    send(type),
  ),
}

const eventless: Case = {
  name: 'always, raise, emit, log and enqueueActions',
  machine: (p) =>
    setup({
      types,
      actions: {
        ...noted(p),
        several: enqueueActions(({ enqueue, check, context, event }) => {
          enqueue.assign({ n: context.n + 1 })
          enqueue({ type: 'act' })
          if (check('odd' as never)) enqueue.raise({ type: 'bump' })
          if (event.loud) enqueue.emit({ type: 'shout', n: context.n })
          enqueue('unheardOf' as never)
          enqueue('more' as never)
        }),
      },
      guards: { odd: ({ context }) => context.n % 2 === 1, high: ({ context }) => context.n > 6 },
    }).createMachine({
      id: 'eventless',
      context: { n: 0 },
      initial: 'one',
      entry: emit({ type: 'born' }),
      states: {
        one: {
          on: {
            go: { actions: 'several' },
            bump: {
              actions: [assign({ n: ({ context }: any) => context.n + 1 }), emit(({ context }: any) => ({ type: 'n', n: context.n })), log('bumped')],
            },
          },
          always: { guard: 'high', target: 'two', actions: ['act', raise({ type: 'next' })] },
        },
        two: { entry: 'in', on: { next: { target: 'three', actions: emit({ type: 'moving' }) } } },
        three: { type: 'final', entry: emit({ type: 'last' }) },
      },
    }),
  steps: [send('go'), send('go', { loud: true }), send('bump'), send('go'), send('go', { loud: true }), send('bump'), send('go')],
}

const timed: Case = {
  name: 'after, delayed raise and sendTo, cancel, in virtual time',
  machine: (p) =>
    setup({ types, actions: noted(p), delays: { dynamic: ({ context }) => context.ms } }).createMachine({
      id: 'timed',
      context: { ms: 250, n: 0 },
      initial: 'a',
      on: {
        later: { actions: raise({ type: 'ping' }, { delay: 100, id: 'ping' }) },
        never: { actions: cancel('ping') },
        nameless: { actions: [raise({ type: 'ping' }, { delay: 40 }), sendTo(({ self }) => self, { type: 'ping' }, { delay: 30 })] },
        ping: { actions: ['act', assign({ n: ({ context }: any) => context.n + 1 })] },
      },
      states: {
        a: { after: { 1000: { target: 'b', actions: 'more' }, 300: { actions: 'act' } }, on: { stop: 'c' } },
        b: { entry: 'in', after: { dynamic: 'c' }, exit: 'out' },
        c: { after: { 50: [{ guard: ({ context }: any) => context.n > 90, target: 'a' }, { target: 'd' }] } },
        d: { type: 'final' },
      },
    }),
  steps: [
    wait(100),
    send('later'),
    send('nameless'),
    wait(35),
    wait(50),
    send('later'),
    send('never'),
    wait(500),
    wait(400),
    wait(100),
    send('later'),
    wait(149),
    wait(1),
    wait(60),
    wait(300),
  ],
}

const children: Case = {
  name: 'spawnChild, stopChild, spawn in assign with refs in context, sendTo, sendParent, forwardTo, systemId, child emits',
  machine: (p) => {
    const pet = setup({ types, actions: noted(p) }).createMachine({
      id: 'pet',
      context: ({ input }: any) => ({ name: input?.name ?? 'nobody', fed: 0 }),
      initial: 'hungry',
      states: {
        hungry: {
          entry: emit(({ context }: any) => ({ type: 'meow', name: context.name })),
          on: {
            feed: {
              target: 'happy',
              actions: [
                assign({ fed: ({ context }: any) => context.fed + 1 }),
                sendParent(({ context }: any) => ({ type: 'thanks', from: context.name })),
                'act',
              ],
            },
          },
        },
        happy: { after: { 100: 'hungry' }, on: { feed: { actions: 'more' }, leave: 'gone' } },
        gone: { type: 'final', output: ({ context }: any) => context.name },
      },
      output: ({ context }: any) => context.fed,
    })
    return setup({ types, actors: { pet }, actions: noted(p) }).createMachine({
      id: 'owner',
      context: { thanks: [], ref: undefined, deep: { refs: [] }, done: 0 },
      on: {
        adopt: { actions: spawnChild('pet', { id: 'cat', systemId: 'the-cat', input: { name: 'Tom' } }) },
        keep: { actions: assign({ ref: ({ spawn }: any) => spawn('pet', { id: 'dog', input: { name: 'Rex' } }) }) },
        more: {
          actions: assign({
            deep: ({ context, spawn }: any) => ({ refs: [...context.deep.refs, spawn('pet', { input: { name: `n${context.deep.refs.length}` } })] }),
          }),
        },
        feed: { actions: sendTo('cat', { type: 'feed' }) },
        feedRef: { actions: sendTo(({ context }: any) => context.ref, { type: 'feed' }) },
        feedAll: {
          actions: enqueueActions(({ context, enqueue }: any) => {
            for (const ref of context.deep.refs) enqueue.sendTo(ref, { type: 'feed' })
          }),
        },
        bySystem: { actions: sendTo(({ system }: any) => system.get('the-cat'), { type: 'feed' }) },
        leave: { actions: forwardTo('cat') },
        later: { actions: sendTo('cat', { type: 'leave' }, { delay: 30 }) },
        release: { actions: stopChild('cat') },
        releaseRef: { actions: [stopChild(({ context }: any) => context.ref), assign({ ref: undefined })] },
        thanks: { actions: ['act', assign({ thanks: ({ context, event }: any) => [...context.thanks, event.from] })] },
        'xstate.done.actor.cat': { actions: assign({ done: ({ context, event }: any) => context.done + 1 + event.output }) },
      },
    })
  },
  steps: [
    send('adopt'),
    send('feed'),
    send('keep'),
    send('feedRef'),
    send('more'),
    send('more'),
    send('feedAll'),
    wait(150),
    send('bySystem'),
    send('feed'),
    send('leave'),
    send('adopt'),
    send('feed'),
    send('later'),
    send('release'),
    wait(50),
    send('adopt'),
    wait(50),
    send('bySystem'),
    send('later'),
    wait(40),
    send('releaseRef'),
    send('more'),
  ],
}

const promises: Case = {
  name: 'promises: input, onDone, onError, stop, race, second incarnation',
  machine: (p) =>
    setup({ types, actors: { first: p.promise('first'), second: p.promise('second') }, actions: noted(p) }).createMachine({
      id: 'promises',
      context: { got: [], n: 0 },
      initial: 'idle',
      states: {
        idle: { on: { go: { target: 'busy', actions: assign({ n: ({ context }: any) => context.n + 1 }) } } },
        busy: {
          entry: 'in',
          exit: 'out',
          invoke: [
            {
              src: 'first',
              id: 'first',
              input: ({ context }: any) => ({ n: context.n }),
              onDone: { target: 'idle', actions: ['act', assign({ got: ({ context, event }: any) => [...context.got, event.output] })] },
              onError: { target: 'failed', actions: assign({ got: ({ context, event }: any) => [...context.got, event.error.message] }) },
            },
            { src: 'second', onDone: { actions: 'more' } },
          ],
          on: { stop: 'idle', again: { target: 'busy', reenter: true } },
          after: { 5000: 'idle' },
        },
        failed: { on: { go: 'busy' } },
      },
    }),
  steps: [
    send('go'),
    { resolve: 'second', value: 1 },
    { resolve: 'first', value: { a: [1, { b: 'x' }] } },
    send('go'),
    send('stop'),
    send('go'),
    send('again'),
    { reject: 'first', error: new TypeError('broken') },
    send('go'),
    wait(6000),
    send('go'),
    { resolve: 'first', value: undefined },
    send('x'),
  ],
}

const streams: Case = {
  name: 'callback, observable and event observable: messages both ways, snapshots, errors, ends',
  machine: (p) =>
    setup({
      types,
      actors: { phone: p.callback('phone'), ticks: p.observable('ticks'), news: p.eventObservable('news') },
      actions: noted(p),
    }).createMachine({
      id: 'streams',
      context: { heard: [], last: undefined, count: 0 },
      initial: 'on',
      states: {
        on: {
          invoke: [
            { src: 'phone', id: 'phone', input: { number: 7 }, onError: { actions: 'more' } },
            {
              src: 'ticks',
              id: 'ticks',
              onSnapshot: { actions: assign({ last: ({ event }: any) => event.snapshot.context, count: ({ context }: any) => context.count + 1 }) },
              onDone: { actions: 'act' },
              onError: { target: 'off' },
            },
            { src: 'news', id: 'news', onDone: { actions: 'more' } },
          ],
          on: {
            say: { actions: sendTo('phone', ({ event }: any) => ({ type: 'word', text: event.text })) },
            heard: { actions: ['act', assign({ heard: ({ context, event }: any) => [...context.heard, event.text] })] },
            headline: { actions: assign({ heard: ({ context }: any) => [...context.heard, 'headline'] }) },
            off: 'off',
          },
        },
        off: { entry: 'in', on: { on: 'on' } },
      },
    }),
  steps: [
    send('say', { text: 'hello' }),
    { say: 'phone', event: { type: 'heard', text: 'hi' } },
    { say: 'ticks', event: { type: 'tick', n: 1 } },
    { say: 'ticks', event: { type: 'tick', n: 2 } },
    { say: 'news', event: { type: 'headline' } },
    { resolve: 'news' },
    send('off'),
    send('on'),
    { say: 'phone', event: { type: 'heard', text: 'two' } },
    { resolve: 'ticks' },
    send('say', { text: 'bye' }),
    send('off'),
    send('on'),
    { reject: 'ticks', error: new Error('no more') },
    send('on'),
    send('say', { text: 'last' }),
  ],
}

const transitions: Case = {
  name: 'transition logic and synchronised child snapshots',
  machine: (p) =>
    setup({
      types,
      actors: {
        sum: fromTransition(
          (state: any, event: any, { emit: say }: any) => {
            if (event.type !== 'add') return state
            if (state.total + event.n > 5) say({ type: 'over' })
            return { total: state.total + event.n }
          },
          ({ input }: any) => ({ total: input?.from ?? 0 }),
        ),
        blink: setup({ types }).createMachine({
          initial: 'off',
          states: { off: { on: { flip: 'on' } }, on: { on: { flip: 'off' }, after: { 10: 'off' } } },
        }),
      },
      actions: noted(p),
    }).createMachine({
      id: 'transitions',
      context: { seen: 0, values: [] },
      invoke: {
        src: 'sum',
        id: 'sum',
        input: { from: 1 },
        onSnapshot: { actions: assign({ seen: ({ event }: any) => event.snapshot.context.total }) },
      },
      entry: spawnChild('blink', { id: 'light', syncSnapshot: true }),
      on: {
        add: { actions: sendTo('sum', ({ event }: any) => event) },
        flip: { actions: sendTo('light', { type: 'flip' }) },
        'xstate.snapshot.light': { actions: ['act', assign({ values: ({ context, event }: any) => [...context.values, event.snapshot.value] })] },
      },
    }),
  steps: [send('add', { n: 2 }), send('flip'), send('flip'), send('add', { n: 4 }), send('flip'), wait(20), send('add', { n: 1 })],
}

/** Children that fail, end at once, or never get to start. */
const ends: Case = {
  // XState leaves the effects of a machine that threw running for ever.
  beyond: ['abort inner'],
  name: 'children that throw, end at once, are left before they begin; output passed up',
  machine: (p) => {
    const failing = setup({ types, actors: { work: p.promise('inner') }, actions: noted(p) }).createMachine({
      invoke: { src: 'work' },
      after: { 1000: { actions: 'more' } },
      on: {
        boom: {
          actions: assign(() => {
            throw new Error('boom')
          }),
        },
        quiet: { actions: 'act' },
      },
    })
    const instant = setup({ types }).createMachine({
      context: ({ input }: any) => input,
      initial: 'end',
      states: { end: { type: 'final' } },
      output: ({ context }: any) => ({ doubled: context.n * 2 }),
    })
    return setup({ types, actors: { failing, instant, slow: p.promise('slow') }, actions: noted(p) }).createMachine({
      id: 'ends',
      context: { results: [] },
      initial: 'a',
      states: {
        a: {
          invoke: {
            src: 'failing',
            id: 'f',
            onError: { target: 'b', actions: assign({ results: ({ context, event }: any) => [...context.results, event.error.message] }) },
          },
          on: { boom: { actions: sendTo('f', { type: 'boom' }) }, quiet: { actions: sendTo('f', { type: 'quiet' }) } },
        },
        b: {
          invoke: {
            src: 'instant',
            input: { n: 21 },
            onDone: { target: 'c', actions: ['act', assign({ results: ({ context, event }: any) => [...context.results, event.output] })] },
          },
        },
        c: { on: { flash: 'flash', end: 'end', back: 'a' } },
        flash: { invoke: { src: 'slow' }, always: 'c' },
        end: { type: 'final' },
      },
      output: ({ context }: any) => context.results,
    })
  },
  steps: [send('quiet'), send('boom'), send('flash'), send('flash'), send('back'), send('quiet'), wait(1100), send('boom'), send('end')],
}

/** The shape of a conversation: session → turn → tools, with everything that has to survive. */
export const conversation: Case = {
  name: 'a session with turns, model calls, tools, a progress callback, retries, approval and time-outs',
  machine: (p) => {
    const tool = setup({ types, actors: { execute: p.promise('execute'), progress: p.callback('progress') }, actions: noted(p) }).createMachine({
      id: 'tool',
      context: ({ input }: any) => ({ id: input.id, tries: 0 }),
      initial: 'running',
      states: {
        running: {
          entry: assign({ tries: ({ context }: any) => context.tries + 1 }),
          invoke: [
            {
              src: 'execute',
              id: 'execute',
              input: ({ context }: any) => ({ id: context.id, attempt: context.tries }),
              onDone: { target: 'done', actions: assign({ result: ({ event }: any) => event.output }) },
              onError: 'retrying',
            },
            { src: 'progress', id: 'progress' },
          ],
          on: { step: { actions: [sendParent(({ event }: any) => ({ type: 'progress', n: event.n })), sendTo('progress', { type: 'noted' })] } },
        },
        retrying: { after: { 200: 'running' } },
        done: { type: 'final' },
      },
      output: ({ context }: any) => context.result,
    })
    const turn = setup({ types, actors: { model: p.promise('model'), tool }, actions: noted(p) }).createMachine({
      id: 'turn',
      context: ({ input }: any) => ({ text: input.text, results: [], progress: 0 }),
      initial: 'calling',
      states: {
        calling: {
          invoke: {
            src: 'model',
            id: 'model',
            input: ({ context }: any) => ({ text: context.text, results: context.results }),
            onDone: [
              {
                guard: ({ event }: any) => event.output.tools > 0,
                target: 'tools',
                actions: assign({ open: ({ event }: any) => event.output.tools }),
              },
              { target: 'done', actions: assign({ answer: ({ event }: any) => event.output.answer }) },
            ],
          },
          after: { 60000: { target: 'done', actions: assign({ answer: 'too late' }) } },
          on: {
            steer: { target: 'calling', reenter: true, actions: assign({ text: ({ context, event }: any) => `${context.text} ${event.text}` }) },
          },
        },
        tools: {
          entry: [spawnChild('tool', { id: 'tool', input: { id: 't' } }), 'act'],
          exit: stopChild('tool'),
          on: {
            progress: { actions: assign({ progress: ({ context, event }: any) => context.progress + event.n }) },
            'xstate.done.actor.tool': {
              target: 'calling',
              actions: assign({ results: ({ context, event }: any) => [...context.results, event.output] }),
            },
          },
        },
        done: { type: 'final' },
      },
      output: ({ context }: any) => ({ answer: context.answer, progress: context.progress }),
    })
    return setup({ types, actors: { turn }, actions: noted(p) }).createMachine({
      id: 'session',
      context: { answers: [] },
      initial: 'idle',
      on: { note: { actions: ['act', emit({ type: 'noted' })] } },
      states: {
        idle: { on: { message: 'running' } },
        running: {
          entry: emit({ type: 'started' }),
          invoke: {
            src: 'turn',
            id: 'turn',
            input: ({ event }: any) => ({ text: event.text }),
            onDone: {
              target: 'idle',
              actions: [
                assign({ answers: ({ context, event }: any) => [...context.answers, event.output] }),
                emit(({ event }: any) => ({ type: 'answer', ...event.output })),
                'more',
              ],
            },
          },
          on: { steer: { actions: forwardTo('turn') }, cancel: 'idle' },
        },
      },
    })
  },
  steps: [
    send('message', { text: 'hi' }),
    { resolve: 'model', value: { tools: 1 } },
    { say: 'progress', event: { type: 'step', n: 1 } },
    send('note'),
    { say: 'progress', event: { type: 'step', n: 2 } },
    { reject: 'execute', error: new Error('flaky') },
    wait(250),
    { say: 'progress', event: { type: 'step', n: 4 } },
    { resolve: 'execute', value: { ok: true } },
    send('steer', { text: 'shorter' }),
    { resolve: 'model', value: { tools: 0, answer: 'hello' } },
    send('message', { text: 'and' }),
    wait(59000),
    send('note'),
    wait(2000),
    send('message', { text: 'stop' }),
    send('cancel'),
    send('note'),
  ],
}

export const cases: Case[] = [nested, parallel, eventless, timed, children, promises, streams, transitions, ends, conversation]
