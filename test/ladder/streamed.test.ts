/** Each rung as it is heard while it works, and as it answers. */
import { expect, test } from 'vitest'
import { agent, type LadderEvent, memoryStore, orchestrator, type Report, type Streamed, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadderOf, timeless } from './a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }
const writer = agent({ name: 'writer', version: '1', description: 'Writes.', model: 'test/writer' })
const intents = { write: writer }
const route = () => 'write' as const
const flow = workflow({
  name: 'flow',
  version: '2',
  steps: [
    {
      name: 'all',
      parallel: [
        { name: 'write', agent: writer },
        { name: 'look', run: () => 1 },
      ],
    },
  ],
})
const boss = supervisor({ name: 'boss', version: '3', intents, route, evaluate: () => ({ satisfied: true }) })
const desk = orchestrator({ name: 'desk', version: '4', checkpointStore: memoryStore(), intents, route })

type Ended = { data?: unknown; error?: unknown; usage: unknown; report: Report }
type Rung = { execute(as: string): Promise<Ended>; stream(as: string): Streamed<Ended>; end: string; inside: string[] }
const rungs: Record<string, Rung> = {
  agent: {
    execute: (runId) => writer.execute('go', { runId }),
    stream: (runId) => writer.stream('go', { runId }),
    end: 'agent.completed',
    inside: [],
  },
  workflow: {
    execute: (runId) => flow.execute('go', { runId }),
    stream: (runId) => flow.stream('go', { runId }),
    end: 'workflow.completed',
    inside: ['step', 'step', 'agent 1', 'step'],
  },
  supervisor: {
    execute: (runId) => boss.execute('go', { runId }),
    stream: (runId) => boss.stream('go', { runId }),
    end: 'supervisor.completed',
    inside: ['agent 1'],
  },
  orchestrator: {
    execute: (sessionId) => desk.execute('go', { sessionId, requestId: sessionId, history: [] }),
    stream: (sessionId) => desk.stream('go', { sessionId, requestId: sessionId, history: [] }),
    end: 'orchestrator.turn.awaiting-input',
    inside: ['supervisor', 'agent 1'],
  },
}
const below = ({ children }: Report): string[] =>
  children.flatMap((child) => [`${child.type}${child.version === undefined ? '' : ` ${child.version}`}`, ...below(child)])

test.each(Object.entries(rungs))(
  '[WL-001, WL-002, WL-005] %s says what it is; what is streamed is heard, and ends as what is executed',
  async (type, rung) => {
    await using kit = await aLadderOf({ 'test/writer': () => ({ text: 'written', usage, delayMs: 500 }) }, writer, flow, boss, desk)
    const executed = await kit.clock.until(rung.execute('run-one'))
    const heard: LadderEvent[] = []
    const streamed = rung.stream('run-two').on({ '*': (event) => void heard.push(event) })
    const result = await kit.clock.until(streamed.result)
    const read: LadderEvent[] = []
    for await (const event of streamed) read.push(event)

    expect(executed).toMatchObject({
      usage: { total: 10 },
      report: { type, version: String(Object.keys(rungs).indexOf(type) + 1), schemaVersion: 1 },
    })
    expect(executed).not.toHaveProperty('error')
    expect(below(executed.report)).toEqual(rung.inside)
    expect(JSON.parse(JSON.stringify(timeless(result)).replaceAll('run-two', 'run-one'))).toEqual(timeless(executed))
    expect(read.at(-1)?.type).toBe(rung.end)
    expect(heard).toEqual(read)
    const all = (node: Report): Report[] => [node, ...node.children.flatMap(all)]
    expect(executed.report.duration).toBeGreaterThanOrEqual(500)
    for (const { runId, startedAt, endedAt, duration, children } of all(executed.report)) {
      expect(duration).toBe(endedAt - startedAt)
      for (const child of children) {
        expect(child).not.toHaveProperty('schemaVersion')
        expect(child.parentRunId).toBe(runId)
      }
    }
  },
)
