/** What an author writes of an orchestrator, and what a session remembers of it. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import {
  agent,
  type LadderEvent,
  memory,
  memorySnapshots,
  memoryStore,
  orchestrator,
  router,
  setLadderDefaults,
  workflow,
} from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
const a = () => undefined
const route = () => 'a' as const
const good = { name: 'desk', intents: { a }, route }

test('[WL-010] every field can be given, and name, version and signature are there to be read', () => {
  const desk = orchestrator({
    name: 'desk',
    version: '3',
    description: 'Answers.',
    intents: { a: { run: a, description: 'A.' }, write: writer },
    router: router({ intents: ['a', 'write'], model: 'test/router' }),
    evaluate: () => undefined,
    state: { n: 0 },
    initialAgent: 'a',
    maxIterations: 4,
    systemPrompt: 'Be brief.',
    iterate: true,
    historyWindow: { router: 3, agents: (history) => history.slice(-2) },
    summarize: { afterTurns: 5, keep: 4, summarizer: writer, onCompact: () => undefined, lock: { maxWait: 1000 } },
    keepSnapshots: 'all',
    checkpointStore: memoryStore(),
    snapshotStore: memorySnapshots(),
    sessionLock: true,
    memory: memory({ working: true }),
    output: z.object({ n: z.number() }),
    observe: () => undefined,
    on: {},
    commands: { ping: () => 'pong' },
  })
  expect(desk).toMatchObject({ name: 'desk', version: '3', signature: expect.stringMatching(/^[\da-f]{8}$/) })
  expect(Object.keys(desk.machines)).toEqual(['desk', 'desk-turn', 'desk-summary'])
  expect(Object.keys(desk.machine.states)).toEqual(['awaiting-input', 'running', 'compacting', 'settled', 'failed', 'releasing-lock'])
})

test('[WL-010, WL-033] what is written of its supervisor counts in its turns: who begins, what the router is told, and when it is enough', async () => {
  const told: string[] = []
  const routed: unknown[] = []
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { a: { run: a, description: 'A.' }, b: { run: a, description: 'B.' } },
    router: router({ intents: ['a', 'b'], model: 'test/router' }),
    initialAgent: 'a',
    iterate: true,
    maxIterations: 2,
    systemPrompt: 'Be brief.',
    on: { 'orchestrator.turn.routed': ({ source, raw, iteration: _, turnIndex }: LadderEvent) => void routed.push([source, raw, turnIndex]) },
  })
  const asked = (request: ModelRequest) => (told.push(JSON.stringify(request)), { text: '{"next":"b"}' })
  await using kit = await aLadderOf({ 'test/router': asked }, desk)
  expect(await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))).toMatchObject({
    error: { code: 'SUPERVISOR_MAX_ITERATIONS' },
    report: { status: 'max-iterations', children: [{ iterations: [{}, {}] }] },
  })
  expect(routed).toEqual([
    ['intent.next', 'a', 0],
    ['router', 'b', 0],
  ])
  expect(told).toEqual([expect.stringContaining('Be brief.')])
})

const wrong: [string, object, RegExp][] = [
  ['no name', { name: undefined }, /no name/],
  ['a name that is too long for the kinds of its actors', { name: 'a'.repeat(25) }, /no name/],
  ['no intents', { intents: undefined }, /nobody to choose from/],
  ['empty intents', { intents: {} }, /nobody to choose from/],
  ['neither route nor router', { route: undefined }, /neither route nor router/],
  ['both', { router: writer }, /route and router/],
  ['a malformed router', { route: undefined, router: { ask: 'me' } }, /router .*cannot be asked/],
  ['an initial agent that is not there', { initialAgent: 'b' }, /initialAgent/],
  ['no iterations', { maxIterations: 0 }, /maxIterations/],
  ['an intent that is nothing', { intents: { a: 5 } }, /nothing that can be done/],
  ['iterate that is a word', { iterate: 'yes' }, /iterate/],
  ['a negative number of rows', { keepSnapshots: 0 }, /keepSnapshots/],
  ['a store that is none', { checkpointStore: {} }, /checkpointStore/],
  ['a policy that is none', { summarize: 5 }, /summarize/],
  ['a negative number of turns', { summarize: { afterTurns: -1 } }, /afterTurns/],
  ['a margin that is no number', { summarize: { margin: '4' } }, /margin/],
  ['a summariser that cannot be asked', { summarize: { summarizer: {} } }, /summarizer/],
  ['onCompact that is no function', { summarize: { onCompact: 5 } }, /onCompact/],
  ['a window that is none', { historyWindow: { agents: 'all' } }, /historyWindow/],
  ['a lock without a release', { sessionLock: { acquire: a, renew: a } }, /sessionLock .* is no lock/],
  ['a lock that is given for no time', { sessionLock: { acquire: a, renew: a, release: a, ttlMs: 0 } }, /sessionLock\.ttlMs/],
  ['a command of a name that is taken', { commands: { compact: a } }, /compact/],
]
test.each(wrong)('[WL-012] %s is ORCHESTRATOR_CONFIG when it is written', (_, given, message) => {
  expect(() => orchestrator({ ...good, ...given })).toThrow(
    expect.objectContaining({
      code: 'ORCHESTRATOR_CONFIG',
      category: 'validation',
      message: expect.stringMatching(message),
      hint: expect.any(String),
    }),
  )
})

test('[WL-012] wrong names are errors of the compiler', () => {
  // @ts-expect-error nobody of that name
  expect(() => orchestrator({ ...good, initialAgent: 'b' })).toThrow()
  // @ts-expect-error nobody of that name
  orchestrator({ name: 'desk', intents: { a }, route: () => 'b' })
})

test('[WL-023] the signature covers who is chosen, by whom and how long; nothing else; and it is the same in each process', () => {
  const flow = (step: string) => workflow({ name: 'flow', description: 'Flows.', steps: [{ name: step, run: a }] })
  const signatureOf = (more: object) => orchestrator({ ...good, ...more }).signature
  const same = signatureOf({})
  expect(same).toBe('549ff55b')
  const alike = [
    { version: '9' },
    { historyWindow: {} },
    { description: 'x', systemPrompt: 'y', state: { n: 1 } },
    { keepSnapshots: 5, checkpointStore: memoryStore(), on: { '*': a }, summarize: { afterTurns: 1 } },
    { intents: { a: () => ({ other: true }) } },
    { maxIterations: 10, iterate: false },
  ]
  for (const more of alike) expect(signatureOf(more), JSON.stringify(more)).toBe(same)
  const others = [
    { name: 'desk-2' },
    { intents: { b: a }, route: () => 'b' },
    { intents: { a: { run: a, description: 'A.' } } },
    { intents: { a: writer } },
    { intents: { a: flow('one') } },
    { intents: { a: flow('two') } },
    { evaluate: a },
    { initialAgent: 'a' },
    { maxIterations: 9 },
    { iterate: true },
    { historyWindow: { router: 5 } },
    { historyWindow: { agents: () => [] } },
    { historyWindow: { agents: 5 } },
    { historyWindow: { router: () => [] } },
    { intents: { a: agent({ name: 'other', description: 'Writes.', model: 'test/writer' }) } },
    ...['one', 'two'].map((who) => ({
      intents: { a: { run: a, description: 'Is routed.' } },
      route: undefined,
      router: router({ name: who, intents: ['a'], model: 'test/router' }),
    })),
    { route: undefined, classifier: () => ({ intent: 'a' }) },
  ]
  expect(new Set([same, ...others.map(signatureOf)]).size).toBe(others.length + 1)
  expect(signatureOf({ historyWindow: { agents: 5 } })).toBe(signatureOf({ historyWindow: { agents: 8 } }))
  const [one, other] = [
    { a, b: writer },
    { b: writer, a },
  ]
  expect(signatureOf({ intents: one })).toBe(signatureOf({ intents: other }))
})

test('[WL-013] a store for the whole process is taken where none is named, and one that is named counts more', async () => {
  const [whole, own] = [memoryStore(), memoryStore()]
  const usual = orchestrator(good)
  const other = orchestrator({ ...good, name: 'other', checkpointStore: own })
  await using kit = await aLadder(usual, other)
  setLadderDefaults({ defaultCheckpointStore: whole })
  try {
    for (const desk of [usual, other]) await kit.clock.until(desk.execute('', { sessionId: 's', history: [] }))
    expect(await whole.list?.('desk')).toEqual(['s'])
    expect(await whole.list?.('other')).toEqual([])
    expect(await own.list?.('other')).toEqual(['s'])
  } finally {
    setLadderDefaults({ defaultCheckpointStore: undefined })
  }
})

test('[WL-013] where no store is named, and no runtime brings one along, whoever asks for sessions is told so and does not wait', async () => {
  const desk = orchestrator(good)
  const nowhere = { code: 'ORCHESTRATOR_CONFIG', category: 'validation', hint: expect.stringContaining('setLadderDefaults') }
  await expect(desk.sessions()).rejects.toMatchObject(nowhere)
  await (await aLadder(desk)).close()
  await expect(desk.sessions()).rejects.toMatchObject(nowhere)
  expect(await orchestrator({ ...good, checkpointStore: memoryStore() }).sessions()).toEqual([])
})

test('[WL-059] commands are added with their types; an unknown one is refused, and what a handler throws comes through', async () => {
  const thrown = new RangeError('not that far')
  const desk = orchestrator({
    ...good,
    commands: {
      double: (n: number) => Promise.resolve(n * 2),
      fail: () => {
        throw thrown
      },
    },
  })
  await using _ = await aLadderOf({}, desk)
  const doubled: number = await desk.command('double', 21)
  expect(doubled).toBe(42)
  await expect(desk.command('fail', undefined as never)).rejects.toBe(thrown)
  // @ts-expect-error not declared
  await expect(desk.command('triple', 1)).rejects.toMatchObject({
    code: 'ORCHESTRATOR_COMMAND_UNKNOWN',
    hint: expect.stringContaining('compact, double, fail'),
  })
  // @ts-expect-error what every object has is no command
  await expect(desk.command('toString', 1)).rejects.toMatchObject({ code: 'ORCHESTRATOR_COMMAND_UNKNOWN' })
  // @ts-expect-error of another type
  void (() => desk.command('double', 'x'))
})
