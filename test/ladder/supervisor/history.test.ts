/** What was said before a run, and who of those in it is told how much of that. */
import { expect, test } from 'vitest'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, END, type HistoryMessage, router, supervisor, workflow } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const said = (count: number): HistoryMessage[] =>
  Array.from({ length: count }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `m${index}` }))

/** All that a model is told but its question: `m0 m1`. */
const before = ({ messages }: ModelRequest): string =>
  messages
    .flatMap((message) => (message.role === 'tool' ? [] : [message.text.match(/^m\d+$/)?.[0] ?? []]))
    .flat()
    .join(' ')
const contents = (history: readonly HistoryMessage[]): string => history.map(({ content }) => content).join(' ')

const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })

/** A desk where everybody says what was read. */
const aDesk = (more: object) => {
  const read: Record<string, string> = {}
  const desk = supervisor({
    name: 'desk',
    intents: {
      write: { agent: writer, description: 'Writes.', next: 'code' },
      code: { run: ({ history }: { history: readonly HistoryMessage[] }) => void (read.code = contents(history)), description: 'Is code.' },
    },
    router: router({ intents: ['write', 'code'], model: 'test/router' }),
    ...more,
  })
  const models = {
    'test/writer': (request: ModelRequest) => ((read.writer = before(request)), { text: 'written' }),
    'test/router': (request: ModelRequest) => {
      const isFirst = read.router === undefined
      read.router = before(request)
      return { text: JSON.stringify({ next: isFirst ? 'write' : END }) }
    },
  }
  return { desk, models, read }
}

test('[WL-104] without windows router, agents and code are told all that was said before; without a history, nothing', async () => {
  const { desk, models, read } = aDesk({})
  await using kit = await aLadderOf(models, desk)
  expect(await kit.clock.until(desk.execute('go', { history: said(3) }))).not.toHaveProperty('error')
  expect(read).toEqual({ writer: 'm0 m1 m2', router: 'm0 m1 m2', code: 'm0 m1 m2' })
  delete read.router
  await kit.clock.until(desk.execute('go'))
  expect(read).toEqual({ writer: '', router: '', code: '' })
})

test('[WL-028, WL-104] windows are cut from the whole of it, each for its own reader; one may be code, and a window of nothing is none', async () => {
  const cuts = [
    [
      { agents: 2, router: 4 },
      { writer: 'm4 m5', code: 'm4 m5', router: 'm2 m3 m4 m5' },
    ],
    [{ agents: 0 }, { writer: '', code: '', router: 'm0 m1 m2 m3 m4 m5' }],
    [
      { router: -1, agents: (all: readonly HistoryMessage[]) => all.filter(({ role }) => role === 'user') },
      { writer: 'm0 m2 m4', code: 'm0 m2 m4', router: '' },
    ],
  ] as const
  for (const [historyWindow, expected] of cuts) {
    const { desk, models, read } = aDesk({ historyWindow })
    await using kit = await aLadderOf(models, desk)
    await kit.clock.until(desk.execute('go', { history: said(6) }))
    expect(read).toEqual(expected)
  }
})

test('[WL-104] what a call says of the history comes in the place of what its author said', async () => {
  const { desk, models, read } = aDesk({ history: said(2) })
  await using kit = await aLadderOf(models, desk)
  await kit.clock.until(desk.execute('go'))
  expect(read.writer).toBe('m0 m1')
  delete read.router
  await kit.clock.until(desk.execute('go', { history: said(5).slice(3) }))
  expect(read).toEqual({ writer: 'm3 m4', code: 'm3 m4', router: 'm3 m4' })
})

test('[WL-028, WL-085] an intent picks its own part of all that was said, whatever the windows are', async () => {
  const read: string[] = []
  const desk = supervisor({
    name: 'desk',
    historyWindow: { agents: 1 },
    intents: {
      write: { agent: writer, history: ({ history }) => history.slice(0, 2) },
      code: { run: ({ history }) => void read.push(`code ${contents(history)}`), history: ({ history }) => history.slice(1, 2) },
      plain: ({ history }) => void read.push(`plain ${contents(history)}`),
    },
    route: ({ iteration }) => (iteration === 0 ? ['write', 'code', 'plain'] : END),
  })
  await using kit = await aLadderOf({ 'test/writer': (request: ModelRequest) => (read.push(`write ${before(request)}`), { text: 'x' }) }, desk)
  expect(await kit.clock.until(desk.execute('go', { history: said(4) }))).not.toHaveProperty('error')
  expect(read.toSorted()).toEqual(['code m1', 'plain m3', 'write m0 m1'])
})

test('[WL-104] supervisors and workflows inside are told what agents are told, and cut it by their own windows', async () => {
  const read: string[] = []
  const inner = supervisor({
    name: 'inner',
    historyWindow: { agents: (all) => all.slice(1) },
    intents: { a: ({ history }) => void read.push(`inner ${contents(history)}`) },
    route: ({ iteration }) => (iteration === 0 ? 'a' : END),
  })
  const flow = workflow({
    name: 'flow',
    steps: [
      { name: 'look', run: ({ history }) => void read.push(`step ${contents(history)}`) },
      { name: 'ask', agent: inner },
    ],
  })
  const desk = supervisor({
    name: 'desk',
    historyWindow: { agents: 3 },
    intents: { flow },
    route: ({ iteration }) => (iteration === 0 ? 'flow' : END),
  })
  await using kit = await aLadder(desk)
  await kit.clock.until(desk.execute('go', { history: said(5) }))
  expect(read).toEqual(['step m2 m3 m4', 'inner m3 m4'])
})

test('[WL-104] an agent that is executed by itself is told it too; what the system says is added to its instructions', async () => {
  const asked: ModelRequest[] = []
  await using kit = await aLadderOf({ 'test/writer': (request: ModelRequest) => (asked.push(request), { text: 'x' }) }, writer)
  await kit.clock.until(writer.execute('and now?', { history: [{ role: 'system', content: 'Earlier: bees.' }, ...said(2)] }))
  const texts = asked[0]?.messages.map((message) => `${message.role} ${message.role === 'tool' ? '' : message.text}`)
  expect(texts).toEqual(['user m0', 'assistant m1', 'user and now?'])
  expect(JSON.stringify(asked[0])).toContain('Earlier: bees.')
})

test('[WL-104] a history that is none, and a window that fails, refuse the run; a window of no sense is said where it is written', async () => {
  const { desk } = aDesk({})
  const failing = aDesk({ historyWindow: { agents: () => 'm0' } }).desk
  const throwing = supervisor({
    name: 'throwing',
    historyWindow: {
      router: () => {
        throw new Error('no idea')
      },
    },
    intents: { a: () => undefined },
    route: () => END,
  })
  await using kit = await aLadder(desk, throwing)
  const wrong = [{ role: 'tool', content: 'x' }] as never
  expect(await kit.clock.until(desk.execute('go', { history: wrong }))).toMatchObject({ error: { code: 'SCHEMA_VALIDATION_FAILED' } })
  expect(await kit.clock.until(throwing.execute('go', { history: said(1) }))).toMatchObject({
    error: { code: 'SUPERVISOR_FAILED', message: expect.stringContaining('no idea') },
  })
  expect(() => failing.slicesOf(said(1))).toThrow(expect.objectContaining({ code: 'SCHEMA_VALIDATION_FAILED' }))
  for (const historyWindow of [{ agents: 1.5 }, { nobody: 1 }])
    expect(() => aDesk({ historyWindow })).toThrow(expect.objectContaining({ code: 'SUPERVISOR_CONFIG' }))
  expect(() => aDesk({ history: [{ role: 'user' }] })).toThrow(expect.objectContaining({ code: 'SCHEMA_VALIDATION_FAILED' }))
})

test('[WL-104] killed at any commit, who works on is told the same', async () => {
  const cut = { historyWindow: { agents: (all: readonly HistoryMessage[]) => all.slice(-2), router: 3 } }
  const { desk, models, read } = aDesk(cut)
  await using kit = await aLadderOf(models, desk)
  const execute = () => desk.execute('go', { runId: 'r', history: said(6) })
  const whole = await kit.clock.until(execute())
  const { seq } = await kit.runtime.actor('desk', 'r').snapshot()
  expect(read).toEqual({ writer: 'm4 m5', code: 'm4 m5', router: 'm3 m4 m5' })
  for (let commit = 1; commit <= seq; commit++) {
    const doomed = aDesk(cut)
    const chosen = {
      'test/router': ({ messages }: ModelRequest) => {
        doomed.read.router = before({ messages } as ModelRequest)
        const isLater = messages.some((message) => message.role === 'user' && message.text.includes('Done so far'))
        return { text: JSON.stringify({ next: isLater ? END : 'write' }) }
      },
    }
    await using other = await aLadderOf({ ...doomed.models, ...chosen }, doomed.desk)
    const result = await killedAt(other, () => doomed.desk.execute('go', { runId: 'r', history: said(6) }), commit)
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(doomed.read).toEqual(read)
    expect(await other.runtime.replay({ kind: 'desk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

test('[WL-104] a message of no such role, and a window for nobody, are compile errors', () => {
  // @ts-expect-error a tool says nothing here
  void ((): unknown => writer.execute('x', { history: [{ role: 'tool', content: 'x' }] }))
  const made = { name: 'desk', intents: { a: () => undefined }, route: () => 'a' as const }
  supervisor({ ...made, historyWindow: { router: 3, agents: (all) => all.slice(1) } })
  // @ts-expect-error nobody reads this one
  expect(() => supervisor({ ...made, historyWindow: { planner: 3 } })).toThrow()
})
