/** Machines that are hard to draw and to write down in another language, each for a reason that its key names. */
import { type AnyStateMachine, and, createMachine, fromPromise, not, raise, setup, stateIn } from 'xstate'

const never = fromPromise<unknown, unknown>(() => Promise.reject(new Error('not provided')))

const parallel = setup({ guards: { ready: () => true } }).createMachine({
  id: 'player',
  type: 'parallel',
  on: { reset: ['.sound.loud', '.picture.bright'], off: '.power' },
  states: {
    sound: {
      initial: 'loud',
      states: { loud: { on: { mute: 'silent' } }, silent: { on: { unmute: { target: 'loud', guard: 'ready' } } } },
    },
    picture: {
      initial: 'bright',
      states: { bright: { on: { dim: 'dark', both: ['#player.sound.silent', '#player.picture.dark'] } }, dark: { after: { 500: 'bright' } } },
    },
    power: {},
  },
})

const history = setup({ actions: { note: () => undefined } }).createMachine({
  id: 'editor',
  initial: 'idle',
  states: {
    idle: { on: { open: 'editing.was', deep: 'editing.all', start: 'editing' } },
    editing: {
      initial: 'text',
      on: { leave: 'idle', again: { target: 'editing', reenter: true }, inner: { target: '.image', reenter: false }, resume: '.was' },
      states: {
        text: { initial: 'plain', states: { plain: { on: { bold: 'bold' } }, bold: { on: { up: '#editor.editing' } } }, on: { image: 'image' } },
        image: { entry: 'note', on: { text: 'text', top: '#editor' } },
        was: { type: 'history', target: 'image' },
        all: { type: 'history', history: 'deep' },
      },
    },
  },
})

const nested = setup({
  actors: { work: never },
  guards: { left: () => true, urgent: () => false },
  actions: { note: () => undefined, ping: raise({ type: 'ping' }) },
  delays: { backoff: 100 },
}).createMachine({
  id: 'nested',
  initial: 'a',
  entry: 'note',
  invoke: { src: 'work', id: 'whole', onDone: { actions: 'note' } },
  states: {
    a: {
      initial: 'b',
      states: {
        b: {
          initial: 'c',
          states: {
            c: { on: { go: 'd', out: '#nested.z' }, always: { guard: and(['left', not('urgent')]), target: 'd' } },
            d: { type: 'parallel', states: { p: { initial: 'x', states: { x: { on: { y: 'y' } }, y: { type: 'final' } } }, q: {} }, onDone: 'e' },
            e: {
              invoke: {
                src: 'work',
                onDone: { target: '#nested.a', actions: ['note', 'ping'] },
                onError: [{ guard: 'left', target: 'c' }, { target: '#nested.failed' }],
              },
            },
          },
        },
      },
      onDone: 'z',
      after: { backoff: { target: 'failed', guard: stateIn({ a: { b: 'c' } }) } },
    },
    z: { tags: ['rest'], on: { '*': 'a', back: 'a', fail: 'failed' }, description: 'the other end' },
    failed: { type: 'final' },
  },
})

const dense: AnyStateMachine = createMachine({
  id: 'dense',
  initial: 's0',
  states: Object.fromEntries(
    Array.from({ length: 9 }, (_, from) => [
      `s${from}`,
      { on: Object.fromEntries(Array.from({ length: 9 }, (__, to) => [`e${to}`, (from * to) % 3 === 1 ? { target: `s${to}` } : {}])) },
    ]),
  ),
})

/** Right to left, zero width, control and markup characters, in every place where a name may stand. */
const evil = '<script>alert(1)</script>\u202eevil\u0007"\'&]]>\n-->%%{init}%%;:::'
const hostile = setup({ actions: { [evil]: () => undefined }, guards: { [evil]: () => true }, actors: { [evil]: never } }).createMachine({
  id: evil,
  description: evil,
  initial: evil,
  states: {
    [evil]: {
      entry: evil,
      description: evil,
      invoke: { src: evil, id: evil },
      on: { [evil]: { target: 'end', guard: evil, actions: evil, description: evil } },
    },
    end: { on: { '<b>': evil, 'a b': 'class' } },
    class: { id: '__proto__', on: { '[*] --> x': 'state' } },
    state: { id: 'state', on: { constructor: 'wide' } },
    wide: { id: '日本語の状態', on: { 'пуск 🚀': '漢字' } },
    漢字: { on: { [`${'long '.repeat(60)}`]: 'long'.repeat(40) } },
    ['long'.repeat(40)]: { type: 'final' },
    '': { on: { ' ': evil } },
  },
} as never)

const alone = createMachine({ id: 'alone', on: { ask: { actions: 'reply' } }, entry: 'begin' })

export const hard: Record<string, AnyStateMachine> = { parallel, history, nested, dense, hostile: hostile as unknown as AnyStateMachine, alone }
