/** Three tiers of handlers: of the definition, of the executable, of the call. */
import { expect, test } from 'vitest'
import { agent, type Executable, type Handlers, type LadderEvent, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadder, aLadderOf } from './a-ladder.ts'

type Made = (on: Handlers) => Executable<string, unknown>

const rungs: Record<string, Made> = {
  agent: (on) => agent({ name: 'it', model: 'test/a', on }),
  workflow: (on) => workflow<string>({ name: 'it', steps: [{ name: 'one', run: () => 1 }], on }),
  supervisor: (on) => supervisor<string>({ name: 'it', intents: { one: () => ({}) }, route: () => '__end__', on }),
}

test.for(Object.entries(rungs))(
  '[WL-060] of %s, the definition hears first, then the executable, then the call; all are handed the same',
  async ([type, made]) => {
    const heard: [string, LadderEvent][] = []
    const as = (tier: string): Handlers => ({ [`${type}.completed`]: (event) => void heard.push([tier, event]) })
    const it = made(as('definition'))
    const leave = it.on(as('first'))
    const second = as('second')
    it.on(second)
    await using kit = await aLadderOf({ 'test/a': () => ({ text: 'yes' }) }, it)

    await kit.clock.until(it.execute('go', { runId: 'r', on: as('call') }))
    expect(heard.map(([tier]) => tier)).toEqual(['definition', 'first', 'second', 'call'])
    expect(new Set(heard.map(([, event]) => event)).size).toBe(1)
    expect(heard[0]?.[1]).toMatchObject({ runId: 'r', rootRunId: 'r', [type]: 'it' })

    // Those of the call went with it.
    heard.length = 0
    leave()
    it.off(second)
    await kit.clock.until(it.execute('go'))
    expect(heard.map(([tier]) => tier)).toEqual(['definition'])
  },
)

test('[WL-063] a handler that throws disturbs nobody, and is warned of once for each type', async () => {
  const heard: string[] = []
  const fail = () => {
    throw new Error('deaf')
  }
  const it = workflow({
    name: 'it',
    steps: [
      { name: 'one', run: () => 1 },
      { name: 'two', run: () => 2 },
    ],
    on: { 'workflow.step.starting': fail, '*': (): Promise<void> => Promise.reject(new Error('mute')) },
  })
  it.on({ 'workflow.step.starting': fail })
  await using kit = await aLadder(it)

  const on = { 'workflow.step.starting': ({ step = '' }: LadderEvent) => void heard.push(step) }
  expect(await kit.clock.until(it.execute({}, { on }))).toMatchObject({ data: 2 })
  await kit.runtime.settled(1_000)

  expect(heard).toEqual(['one', 'two'])
  const warned = kit.log.filter(({ level }) => level === 'warn').map(({ fields }) => (fields as { event?: string }).event)
  expect(new Set(warned)).toEqual(new Set(['workflow.completed', 'workflow.starting', 'workflow.step.completed', 'workflow.step.starting']))
  expect(warned).toHaveLength(4)
})

test('[WL-063, WL-060] events of a run inside carry the true root; its own listeners hear them, wherever it runs, and those of the root', async () => {
  const heard: string[] = []
  const hear = (who: string): Handlers => ({ '*': ({ type, runId, rootRunId }) => void heard.push(`${who} ${type} ${runId} ${rootRunId}`) })
  const writer = agent({ name: 'writer', model: 'test/a', on: hear('writer') })
  const draft = workflow({ name: 'draft', steps: [{ name: 'write', agent: writer }] })
  const boss = supervisor({ name: 'boss', intents: { draft }, route: ({ iteration }) => (iteration === 0 ? 'draft' : '__end__'), on: hear('boss') })
  draft.on(hear('draft'))
  await using kit = await aLadderOf({ 'test/a': [{ text: 'yes' }] }, boss)

  await kit.clock.until(boss.execute('go', { runId: 'r' }))

  const of = (who: string) => heard.filter((line) => line.startsWith(`${who} `)).map((line) => line.slice(who.length + 1))
  const own = 'r/draft/1/write/1 r'
  expect(of('writer')).toEqual(['starting', 'trip.started', 'trip.streaming', 'trip.completed', 'completed'].map((word) => `agent.${word} ${own}`))
  expect(of('draft')).toContain('workflow.step.completed r/draft/1 r')
  expect(of('boss')).toEqual(expect.arrayContaining([...of('writer'), ...of('draft'), 'supervisor.completed r r']))
  // The one that tells comes first.
  expect(heard.indexOf(`writer agent.completed ${own}`)).toBeLessThan(heard.indexOf(`boss agent.completed ${own}`))
})

test('[WL-060] what is no handler is said where it is written', () => {
  expect(() => agent({ name: 'a', on: { 'agent.completed': 1 as never } })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})
