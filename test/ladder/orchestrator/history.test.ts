/** What was said before: who is told how much of it, and that it is the caller's. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, type HistoryMessage, memoryStore, orchestrator, router } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const history: HistoryMessage[] = Array.from({ length: 30 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `said-${index}`,
}))
const seenIn = ({ messages }: ModelRequest) => [...JSON.stringify(messages).matchAll(/said-(\d+)/g)].map(([, index]) => Number(index))
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

const asked = async (more: object = {}, intent: object = {}) => {
  const seen: Record<string, number[]> = {}
  const store = memoryStore()
  const code: unknown[] = []
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: store,
    intents: {
      write: { agent: writer, output: z.string().transform((text) => ({ text })), ...intent },
      look: { run: ({ history: read }) => void code.push(...read), description: 'Looks.' },
    },
    router: router({ intents: ['write', 'look'], model: 'test/router' }),
    ...more,
  })
  await using kit = await aLadderOf(
    {
      'test/writer': (request: ModelRequest) => ((seen.writer = seenIn(request)), { text: 'written', usage }),
      'test/router': (request: ModelRequest) => ((seen.router = seenIn(request)), { text: '{"next":["write","look"]}', usage }),
    },
    desk,
  )
  const counts: unknown[] = []
  const { error } = await kit.clock.until(
    desk.execute('go', { sessionId: 's', history, on: { 'orchestrator.history.windowed': ({ messageCount }) => void counts.push(messageCount) } }),
  )
  const context = await kit.runtime
    .actor('desk', 's')
    .snapshot()
    .then(
      (at) => at.context,
      () => undefined,
    )
  return { seen, rows: await store.rows('desk', 's'), context, counts, code, error }
}

test('[WL-015] it stands in no row and not in the state of the session', async () => {
  const { rows, context, error } = await asked()
  expect(error).toBeUndefined()
  expect(JSON.stringify(rows)).not.toContain('said-')
  expect(JSON.stringify(context)).not.toContain('said-')
})

test('[WL-027, WL-061] by default the router sees the last 5 messages and agents the last 15, which are counted', async () => {
  const { seen, counts, code } = await asked()
  expect(seen).toEqual({ writer: range(15, 30), router: range(25, 30) })
  expect(counts).toEqual([15])
  expect(code).toHaveLength(15)
})

test('[WL-027] none is none, and code picks what it likes', async () => {
  const { seen, counts } = await asked({ historyWindow: { router: (all: readonly HistoryMessage[]) => all.slice(0, 2), agents: 0 } })
  expect(seen).toEqual({ writer: [], router: [0, 1] })
  expect(counts).toEqual([0])
})

test('[WL-028] the window of the router is cut from the whole of it, and an intent may pick its own part', async () => {
  expect((await asked({ historyWindow: { agents: 2, router: 10 } })).seen).toEqual({ writer: [28, 29], router: range(20, 30) })
  const own = await asked(
    { historyWindow: { agents: 2, router: 1 } },
    { history: ({ history: all }: { history: readonly HistoryMessage[] }) => all.slice(3, 6) },
  )
  expect(own.seen).toEqual({ writer: [3, 4, 5], router: [29] })
})

test('[WL-027] a window whose code fails, fails the turn and nothing else', async () => {
  const failing = () => {
    throw new Error('blind')
  }
  expect((await asked({ historyWindow: { agents: failing } })).error).toMatchObject({
    code: 'SUPERVISOR_FAILED',
    message: expect.stringContaining('blind'),
  })
})
