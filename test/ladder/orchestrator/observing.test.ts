/** Who is told of turns that have ended. */
import { expect, test } from 'vitest'
import { agent, type LadderEvent, memoryStore, orchestrator, type Report } from '../../../src/ladder/index.ts'
import { aLadder, aLadderOf } from '../a-ladder.ts'

test('[WL-009] an observer gets the report of each turn, failed ones too, and one that throws disturbs nobody', async () => {
  const reports: Report[] = []
  const observe = (report: Report) => {
    reports.push(report)
    throw new Error('blind')
  }
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { work: ({ input }) => (input === 'bad' ? Promise.reject(new Error('no')) : { done: true }) },
    route: () => 'work' as const,
    observe,
  })
  await using kit = await aLadder(desk)
  for (const input of ['good', 'bad']) await kit.clock.until(desk.execute(input, { sessionId: 's', history: [] }))
  await kit.clock.advance(10)
  expect(reports).toMatchObject([
    { type: 'orchestrator', status: 'awaiting-input', sessionId: 's', children: [{ type: 'supervisor' }] },
    { status: 'failed', error: { code: 'SUPERVISOR_FAILED' } },
  ])
  expect(kit.log.filter(({ message }) => message?.includes('observer'))).toHaveLength(1)
})

test('[WL-060, WL-063] listeners of an agent hear of it in turns of a session; a handler that throws is warned about once', async () => {
  const heard: string[] = []
  const writer = agent({
    name: 'writer',
    description: 'Writes.',
    model: 'test/writer',
    on: { 'agent.completed': ({ runId }) => void heard.push(runId) },
  })
  const desk = orchestrator({
    name: 'desk',
    checkpointStore: memoryStore(),
    intents: { write: writer },
    route: () => 'write' as const,
    on: {
      'orchestrator.turn.starting': () => {
        throw new Error('deaf')
      },
    },
  })
  await using kit = await aLadderOf({ 'test/writer': () => ({ text: 'written' }) }, desk)
  const events: LadderEvent[] = []
  for (const _ of [1, 2]) await kit.clock.until(desk.execute('x', { sessionId: 's', history: [], on: { '*': (event) => void events.push(event) } }))
  expect(heard).toEqual(['s.unversioned.0/write/1', 's.unversioned.1/write/1'])
  expect(events.filter(({ type }) => type === 'orchestrator.turn.starting')).toHaveLength(2)
  expect(kit.log.filter(({ message }) => message?.includes("'orchestrator.turn.starting'"))).toHaveLength(1)
})
