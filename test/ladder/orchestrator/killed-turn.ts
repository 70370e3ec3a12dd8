/** A turn of a session that is killed and goes on: survival.test.ts kills it at a sample of its commits, survival.long.test.ts at each. */
import { expect } from 'vitest'
import { z } from 'zod'
import type { ModelRequest } from '../../../src/index.ts'
import { agent, type CheckpointStore, END, memoryStore, orchestrator, router } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const history = Array.from({ length: 12 }, (_, index) => ({
  role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
  content: `said ${index}`,
}))

const aDesk = (checkpointStore: CheckpointStore, applied: number[] = []) => {
  const writer = agent({ name: 'writer', description: 'Writes.', model: 'test/writer' })
  return orchestrator({
    name: 'desk',
    version: '1',
    iterate: true,
    state: { parts: 0, reviewed: false },
    intents: {
      write: { agent: writer, output: z.string().transform(() => ({ parts: 1 })), description: 'Writes.' },
      review: { run: () => ({ reviewed: true }), description: 'Reviews.' },
    },
    router: router({ intents: ['write', 'review'], model: 'test/router' }),
    checkpointStore,
    summarize: { afterTurns: 0, keep: 4, summarizer: 'test/summary', onCompact: ({ replacesToIndex }) => void applied.push(replacesToIndex) },
  })
}

const models = (paid: string[]) => ({
  'test/writer': () => (paid.push('writer'), { text: 'written', usage }),
  'test/summary': () => (paid.push('summary'), { text: 'all was said', usage }),
  'test/router': ({ messages }: ModelRequest) => {
    paid.push('router')
    const place = /iteration (\d+)/.exec(JSON.stringify(messages))?.[1]
    return { text: JSON.stringify({ next: { 1: ['write', 'review'] }[place ?? ''] ?? END }), usage }
  },
})
/** Apart from the order of those that ran at once, and from ids that are drawn. */
const plain = (value: unknown): unknown => timeless(value)

/** Kills a turn at each wanted commit of its session, of itself or of its summary. */
export const killedTurn = async (isWanted: (commit: number) => boolean): Promise<void> => {
  const once: string[] = []
  const stored = memoryStore()
  const desk = aDesk(stored)
  await using kit = await aLadderOf(models(once), desk)
  const execute = (one: typeof desk) => () => one.execute('a paper', { sessionId: 's', history, requestId: 'r' })
  const whole = await kit.clock.until(execute(desk)())
  expect(whole).toMatchObject({ data: { parts: 1, reviewed: true }, usage: { total: 40 }, report: { status: 'awaiting-input' } })
  expect(whole.compaction).toBeUndefined()
  const rows = await stored.rows('desk', 's')
  let commit = 1
  for (; ; commit++) {
    if (!isWanted(commit)) continue
    const paid: string[] = []
    const applied: number[] = []
    const store = memoryStore()
    const doomed = aDesk(store, applied)
    await using life = await aLadderOf(models(paid), doomed)
    const result = await killedAt(life, execute(doomed), commit)
    if (!result) break
    expect(plain(result), `killed at commit ${commit}`).toEqual(plain(whole))
    expect((await store.rows('desk', 's')).map((row) => ({ ...row, saved_at: '' }))).toEqual(rows.map((row) => ({ ...row, saved_at: '' })))
    expect(await store.record('desk', 's'), `killed at commit ${commit}`).toEqual({ summarizedThrough: 7, lock: null })
    expect(new Set(applied), `killed at commit ${commit}`).toEqual(new Set([7]))
    expect(paid.length, `killed at commit ${commit}: ${paid.join()}`).toBeLessThanOrEqual(once.length + 1)
    for (const address of [
      { kind: 'desk', id: 's' },
      { kind: 'desk-turn', id: 's.1.0' },
      { kind: 'desk-summary', id: 'r/summary' },
    ])
      expect(await life.runtime.replay(address), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
  expect(commit).toBeGreaterThan(15)
}
