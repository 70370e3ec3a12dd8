/** Runs that are cancelled while others work inside of them: what those have used is counted. */
import { expect, test } from 'vitest'
import { agent, type LadderEvent, type Report, supervisor, workflow } from '../../src/ladder/index.ts'
import { traceOf } from '../../src/testing/index.ts'
import { aLadderOf, killedAt, timeless } from './a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
/** It says something, and then something else slowly. */
const talking = { chunks: ['a', 'b', 'c'], deltaDelayMs: 10_000, usage }

const scout = agent({ name: 'scout', description: 'Looks things up.', model: 'test/scout' })
const rungs = {
  agent: () => agent({ name: 'top', model: 'test/top', tools: [scout] }),
  workflow: () =>
    workflow({
      name: 'top',
      steps: [
        {
          name: 'all',
          parallel: [
            { name: 'one', agent: scout },
            { name: 'two', run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))) },
            { name: 'three', agent: scout },
          ],
        },
        { name: 'after', run: () => 'never' },
      ],
    }),
  nested: () => workflow({ name: 'top', steps: [{ name: 'deep', agent: workflow({ name: 'inner', steps: [{ name: 'one', agent: scout }] }) }] }),
  supervisor: () => supervisor({ name: 'top', intents: { one: scout, three: scout }, route: () => ['one', 'three'] }),
}
const models = {
  'test/scout': [talking, { text: 'found', usage }],
  'test/top': [
    {
      calls: [
        { name: 'scout', input: { text: 'x' } },
        { name: 'scout', input: { text: 'y' } },
      ],
      usage,
    },
    { text: 'done', usage },
  ],
}

const scouts = (report: Report): Report[] => (report.name === 'scout' && report.type === 'agent' ? [report] : report.children.flatMap(scouts))

const unpaid = (value: unknown): unknown => JSON.parse(JSON.stringify(timeless(value)).replaceAll(/"(?:input|output|total)":\d+/g, '"u":0'))

/** Runs until all that work inside have said something, and cancels. */
const cancelledRun = (made: (typeof rungs)[keyof typeof rungs]) => {
  const top = made()
  return {
    top,
    async execute() {
      const heard = new Set<string>()
      const count = made === rungs.nested ? 1 : 2
      const leave = new AbortController()
      const on = {
        'agent.trip.streaming': ({ runId }: LadderEvent) => {
          if (runId !== 'r' && heard.add(runId).size === count) leave.abort('enough')
        },
      }
      return top.execute('go', { runId: 'r', signal: leave.signal, on })
    },
  }
}

for (const [name, made] of Object.entries(rungs))
  test(`[WL-005, WL-007, WL-124, WL-102, WL-115] ${name}: cancelled while others work inside, it ends when they have said what they used`, async () => {
    const { top, execute } = cancelledRun(made)
    await using kit = await aLadderOf(models, top)
    const { error, usage: sum, report } = await kit.clock.until(execute())
    const count = name === 'nested' ? 1 : 2
    expect(error).toMatchObject({ category: 'cancelled', context: { reason: 'enough' } })
    expect(report.status).toBe('cancelled')
    expect(scouts(report)).toHaveLength(count)
    for (const one of scouts(report)) expect(one).toMatchObject({ status: 'cancelled', trips: 1, usage: { total: 10 } })
    expect(sum.total).toBe(name === 'agent' ? 30 : 10 * count)
    expect(report.usage).toEqual(sum)
    expect(await kit.runtime.replay({ kind: 'top', id: 'r' })).toMatchObject({ verdict: 'identical' })
    // Nothing of it goes on, and the run can.
    expect((await kit.runtime.actor('top', 'r').snapshot()).children).toEqual({})
  })

const kinds: Record<string, (typeof rungs)[keyof typeof rungs]> = { workflow: rungs.workflow, supervisor: rungs.supervisor, agent: rungs.agent }
for (const [name, made] of Object.entries(kinds))
  test(`[WL-113, WL-125] ${name}: killed at any commit, before or after it was cancelled, it ends with the same tree`, async () => {
    const first = cancelledRun(made)
    await using kit = await aLadderOf(models, first.top)
    const whole = await kit.clock.until(first.execute())
    const { seq } = await kit.runtime.actor('top', 'r').snapshot()
    const cancelled = Number((await traceOf(kit.runtime, 'r', 'top')).find((line) => line.includes('/ cancel'))?.split(' ')[0])
    expect(seq).toBeGreaterThan(cancelled)
    for (let commit = 1; commit <= seq; commit++) {
      const again = cancelledRun(made)
      await using doomed = await aLadderOf(models, again.top)
      const result = await killedAt(doomed, again.execute, commit)
      expect(unpaid(result), `killed at commit ${commit}`).toEqual(unpaid(whole))
      // What a model had used that died before it told is not known to anybody.
      expect(result?.usage.total, `killed at commit ${commit}`).toBeOneOf([whole.usage.total, name === 'agent' ? 10 : 0])
      if (commit >= seq) expect(timeless(result)).toEqual(timeless(whole))
      expect(await doomed.runtime.replay({ kind: 'top', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
    }
  })
