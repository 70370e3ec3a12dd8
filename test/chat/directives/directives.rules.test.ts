import { describe, expect, test } from 'vitest'
import { abortWord, type Directive, directiveMax, parseDirectives } from '../../../src/chat/directives/directives.rules.ts'
import { commandWords } from '../../../src/contracts/command-words.ts'
import { growth, growthMax } from '../../support/growth.ts'

const mixed = (text: string, ...directives: Directive[]) => ({ text, directives, only: false })
const alone = (...directives: Directive[]) => ({ text: '', directives, only: true })
const high = { name: 'think', value: 'high' } as const

test.each([...commandWords])('/%s alone is a command', (word) => {
  expect(parseDirectives(`/${word}`)).toMatchObject({ text: '', directives: [{}], only: true })
})

describe('directives', () => {
  test('one in the middle is taken out with its value [OC-97]', () => {
    expect(parseDirectives('fix it /think:high now')).toEqual(mixed('fix it now', high))
  })

  test.each(['/think high', '/t high', '/thinking high', '/THINK HIGH', '/think:high', '/think: high', '/think high.', ' /t  max '])(
    '%j says one thing [OC-97]',
    (text) => {
      expect(parseDirectives(text)).toEqual(alone(high))
    },
  )

  test('each has its names and values [OC-97]', () => {
    expect(parseDirectives('/v full /verbose off /reason stream /reasoning on /elev ask /elevated: full').directives).toEqual([
      { name: 'verbose', value: 'full' },
      { name: 'verbose', value: 'off' },
      { name: 'reasoning', value: 'stream' },
      { name: 'reasoning', value: 'on' },
      { name: 'elevated', value: 'ask' },
      { name: 'elevated', value: 'full' },
    ])
  })

  test('without a value it asks, and several may ask at once [OC-98]', () => {
    expect(parseDirectives('/think')).toEqual(alone({ name: 'think' }))
    expect(parseDirectives('/think:')).toEqual(alone({ name: 'think' }))
    expect(parseDirectives('/think /verbose\n/model')).toEqual(alone({ name: 'think' }, { name: 'verbose' }, { name: 'model' }))
  })

  test('a value that fits nothing is named, where it can only have been meant as one [OC-98]', () => {
    expect(parseDirectives('/think hgih')).toEqual(alone({ name: 'think', invalid: 'hgih' }))
    expect(parseDirectives('/think hgih /verbose lod')).toEqual(alone({ name: 'think', invalid: 'hgih' }, { name: 'verbose', invalid: 'lod' }))
    expect(parseDirectives('/think:hgih go on')).toEqual(mixed('go on', { name: 'think', invalid: 'hgih' }))
    expect(parseDirectives('go /think:hgih on')).toEqual(mixed('go /think:hgih on'))
  })

  test('in a sentence the next word belongs to the sentence, unless it is a value', () => {
    expect(parseDirectives('/think fix the bug')).toEqual(mixed('fix the bug', { name: 'think' }))
    expect(parseDirectives('/think hard about it')).toEqual(mixed('about it', { name: 'think', value: 'low' }))
    expect(parseDirectives('/think\nhigh water is coming')).toEqual(mixed('high water is coming', { name: 'think' }))
  })

  test('a wrong value of great length is not kept whole', () => {
    const [directive] = parseDirectives(`/think:${'😀'.repeat(1000)}`).directives

    expect(directive).toMatchObject({ name: 'think', invalid: '😀'.repeat(50) })
  })

  test('a model is any word but one that begins with a slash', () => {
    expect(parseDirectives('/model openai/gpt-5@work hello')).toEqual(mixed('hello', { name: 'model', value: 'openai/gpt-5@work' }))
    expect(parseDirectives(`/model ${'x'.repeat(201)}`)).toEqual(alone({ name: 'model', invalid: 'x'.repeat(100) }))
    expect(parseDirectives('/model: 3')).toEqual(alone({ name: 'model', value: '3' }))
    expect(parseDirectives('/model /status')).toEqual(alone({ name: 'model' }, { name: 'status' }))
  })

  test('exec takes the options it knows', () => {
    expect(parseDirectives('/exec host=node ASK:always run it')).toEqual(mixed('run it', { name: 'exec', value: { host: 'node', ask: 'always' } }))
    expect(parseDirectives('/exec')).toEqual(alone({ name: 'exec' }))
    expect(parseDirectives('/exec wrong')).toEqual(alone({ name: 'exec', invalid: 'wrong' }))
  })
})

describe('/queue [OC-101]', () => {
  test('takes a mode and settings', () => {
    expect(parseDirectives('/queue collect debounce:2s cap:25')).toEqual(
      alone({ name: 'queue', value: { mode: 'collect', debounceMs: 2000, cap: 25 } }),
    )
    expect(parseDirectives('/queue drop:old')).toEqual(alone({ name: 'queue', value: { drop: 'old' } }))
    expect(parseDirectives('/queue')).toEqual(alone({ name: 'queue' }))
    expect(parseDirectives('/queue default')).toEqual(alone({ name: 'queue', value: { reset: true } }))
  })

  test('stops at the first unknown word, which stays', () => {
    expect(parseDirectives('/queue collect now cap:3')).toEqual(mixed('now cap:3', { name: 'queue', value: { mode: 'collect' } }))
    expect(parseDirectives('/queue collect queue up two jobs')).toEqual(mixed('queue up two jobs', { name: 'queue', value: { mode: 'collect' } }))
    expect(parseDirectives('/queue what about it')).toEqual(mixed('what about it', { name: 'queue' }))
  })

  test('names what fits nothing, and ignores a cap below 1', () => {
    expect(parseDirectives('/queue nonsense')).toEqual(alone({ name: 'queue', invalid: 'nonsense' }))
    expect(parseDirectives('/queue steer debounce:soon')).toEqual(alone({ name: 'queue', value: { mode: 'steer' }, invalid: 'debounce:soon' }))
    expect(parseDirectives('/queue cap:0 steer')).toEqual(alone({ name: 'queue', value: { mode: 'steer' } }))
  })
})

describe('shortcuts', () => {
  test('stand at the start, and the rest goes on [OC-102]', () => {
    expect(parseDirectives('/status hello')).toEqual(mixed('hello', { name: 'status' }))
    expect(parseDirectives('/help me with this')).toEqual(mixed('me with this', { name: 'help' }))
    expect(parseDirectives('/commands /whoami')).toEqual(alone({ name: 'commands' }, { name: 'whoami' }))
    expect(parseDirectives(' /status\n/think high go')).toEqual(mixed('go', { name: 'status' }, high))
  })
})

describe('commands', () => {
  test('a new conversation begins with the rest, directives in it included [OC-29]', () => {
    expect(parseDirectives('/NEW hello')).toEqual(mixed('hello', { name: 'reset', value: '/new' }))
    expect(parseDirectives('/reset')).toEqual(alone({ name: 'reset', value: '/reset' }))
    expect(parseDirectives('/new /think high hello')).toEqual(mixed('hello', { name: 'reset', value: '/new' }, high))
    expect(parseDirectives('/new /think high')).toEqual(alone({ name: 'reset', value: '/new' }, high))
    expect(parseDirectives('neu anfangen', { resets: ['neu'] })).toEqual(mixed('anfangen', { name: 'reset', value: 'neu' }))
  })

  test('compact takes all that follows as instructions', () => {
    expect(parseDirectives('/compact')).toEqual(alone({ name: 'compact' }))
    expect(parseDirectives(' /Compact: keep the plan\nand /think high')).toEqual(alone({ name: 'compact', value: 'keep the plan\nand /think high' }))
  })

  test('usage, send and context take one word each', () => {
    const said = ['/usage', '/usage session', '/usage cost', '/send deny', '/send inherit', '/context JSON', '/context'].map(
      (text) => parseDirectives(text).directives[0],
    )

    expect(said).toEqual([
      { name: 'usage' },
      { name: 'usage', value: 'full' },
      { name: 'usage', value: 'cost' },
      { name: 'send', value: 'off' },
      { name: 'send', value: 'inherit' },
      { name: 'context', value: 'json' },
      { name: 'context' },
    ])
    expect(parseDirectives('/usage wat is it')).toEqual(alone({ name: 'usage', invalid: 'wat is it' }))
  })

  test('stop may be followed by what to do instead', () => {
    expect(parseDirectives('/stop')).toEqual(alone({ name: 'stop' }))
    expect(parseDirectives('/stop and /think:high try again')).toEqual(mixed('and try again', { name: 'stop' }, high))
  })

  test.each(['say /new', 'then /compact it', 'x /usage', 'x /stop', '/think high /new'])('%j is not begun by one, so it stays text', (text) => {
    expect(parseDirectives(text).text).toContain(text.split(' ').find((word) => /^\/(?:new|compact|usage|stop)/.test(word)))
  })
})

describe('a sentence', () => {
  test.each([
    'Add a route GET /status to the server and document it.',
    'Our API has /help and /model endpoints, describe both.',
    'mv /t off /v on',
    'hello /status',
    'please /think hard about it',
    'say /status:hello',
    'what does /think: do?',
    'see /think: on the whole, high',
    'the key /model:name of the file',
    'deploy to /exec host=node',
    'what is /queue collect for?',
    '```http\nGET /status HTTP/1.1\n/think:high\n```',
    '~~~\n/think:high\n~~~\nwhat does this do?',
    'the words `set /think:high now` stand there',
    'one\n/t high\ntwo',
    'Bitte /hilfe, или /status, 或 /model',
  ])('%j reaches the model whole [OC-97]', (text) => {
    expect(parseDirectives(text)).toEqual(mixed(text))
  })

  test.each([
    ['fix it /think:high now', 'fix it now', high],
    ['fix it /t:high.', 'fix it', high],
    ['go on /model:openai/gpt-5', 'go on', { name: 'model', value: 'openai/gpt-5' }],
    ['do this\n/queue:collect\nand that', 'do this\nand that', { name: 'queue', value: { mode: 'collect' } }],
    ['run /exec:host=node it', 'run it', { name: 'exec', value: { host: 'node' } }],
    ['a `b` /think:high ``` c', 'a `b` ``` c', high],
  ] as const)('%j holds one that cannot be meant as anything else [OC-97]', (text, left, directive) => {
    expect(parseDirectives(text)).toEqual(mixed(left, directive as Directive))
  })

  test('a name behind /model: counts where it is one', () => {
    expect(parseDirectives('go on /model:quick please', { isModel: (word) => word === 'quick' })).toEqual(
      mixed('go on please', { name: 'model', value: 'quick' }),
    )
    expect(parseDirectives('go on /model:quick please')).toEqual(mixed('go on /model:quick please'))
  })
})

describe('text that only looks like it', () => {
  test.each([
    'see https://x/think now',
    'cat /usr/model',
    '/status/page',
    '/help.',
    '/thinker',
    '//think',
    'either/or and/or',
    '(/think high)',
    '/ think',
    '/',
    '/unknown high',
    '/constructor',
    '/model-x',
    'plain words',
    '',
    '  spaces  stay ',
  ])('%j is left as it is', (text) => {
    expect(parseDirectives(text)).toEqual(mixed(text))
  })
})

describe('what is left', () => {
  test.each([
    ['a  /t:high  b', 'a  b'],
    ['one\n/t:high\ntwo', 'one\ntwo'],
    ['one\n\n/t:high\ntwo', 'one\n\ntwo'],
    ['one\n/t:high\n    code()', 'one\n    code()'],
    ['one\n  /t:high two', 'one\n  two'],
    ['/t high\n\n- a\n  - b\n', '- a\n  - b'],
    ['keep   this\t\n /v:on', 'keep   this'],
    ['/t high /v on hi /status there /whoami', 'hi /status there /whoami'],
  ])('%j leaves %j', (text, left) => {
    expect(parseDirectives(text).text).toBe(left)
  })

  test('holds nothing that would be read as a directive the second time', () => {
    const text = '/t high /v on do /t:high this /queue:collect then /status'

    const left = parseDirectives(text).text

    expect(parseDirectives(left)).toEqual(mixed(left))
  })
})

test('a message holds 50 of them at most, a command included; the rest is text', () => {
  const many = '/status '.repeat(60)

  expect(parseDirectives(many)).toMatchObject({ directives: { length: directiveMax }, text: '/status '.repeat(10).trim(), only: false })
  expect(parseDirectives(`/new ${many}`)).toMatchObject({ directives: { length: directiveMax }, text: '/status '.repeat(11).trim() })
})

describe('a long text', () => {
  const times = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

  test.each<[string, (size: number) => string]>([
    ['plain words', (size) => times('word ', size)],
    ['directives', (size) => times('/t high ', size)],
    ['directives with attempts', (size) => times('/t x ', size)],
    ['names alone', (size) => times('/t ', size)],
    ['names after many lines', (size) => `${times('\n', size / 2)}${times('/t ', size / 2)}`],
    ['slashes', (size) => times('/', size)],
    ['one long name', (size) => `/${times('a', size)}`],
    ['one long value', (size) => `/think ${times('a', size)}`],
    ['space after a name', (size) => `/think${times(' ', size)}/`],
    ['space and slashes', (size) => times(' /', size)],
    ['queue words', (size) => `/queue ${times('cap:2 ', size)}`],
    ['empty lines', (size) => times('\n /t', size)],
  ])('of %s takes time in proportion to its length', (_, long) => {
    const reading = (size: number) => {
      const text = long(size)
      return () => {
        parseDirectives(text)
        abortWord(text)
      }
    }

    expect(growth(50_000, reading)).toBeLessThan(growthMax)
  })
})

describe('abort words [OC-103]', () => {
  test.each(['stop', 'ESC', ' abort ', 'Wait', 'exit', 'interrupt', '/stop', '/STOP', 'stop!', 'wait...', 'stop。', 'Abort?!'])(
    '%j stops',
    (text) => {
      expect(abortWord(text)).toBe(true)
    },
  )

  test.each(['', 'stop it', 'please stop', '/abort', '//stop', 'nonstop', 'stopp', '!stop', 'wait, what', '/', 'stop /stop'])(
    '%j does not',
    (text) => {
      expect(abortWord(text)).toBe(false)
    },
  )
})
