/** Who hears of batches and planners, and who observes them. */
import { expect, test } from 'vitest'
import { batch, type LadderEvent, planner, type Report, workflow } from '../../../src/ladder/index.ts'
import { aLadderOf } from '../a-ladder.ts'

const plan = { goal: 'go', steps: [{ id: 'a', capability: 'act', input: {} }] }

test('[WL-060, WL-009] batches and planners are heard and observed as their definitions say, and so is what runs in them', async () => {
  const heard: string[] = []
  const seen: Report[] = []
  const observe = (report: Report) => void seen.push(report)
  const hear = (who: string) => ({ '*': (event: LadderEvent) => void heard.push(`${who} ${event.type} ${String(event[who])}`) })
  const one = workflow<string>({ name: 'one', steps: [{ name: 'work', run: () => 1 }], on: hear('workflow') })
  const many = batch(one, { name: 'many', on: hear('batch'), observe })
  const chief = planner({
    name: 'chief',
    model: 'test/chief',
    capabilities: { act: { use: () => 'acted', description: 'Acts.' } },
    on: hear('planner'),
    observe,
  })
  await using kit = await aLadderOf({ 'test/chief': [{ text: JSON.stringify(plan) }] }, many, chief)
  const results = [await kit.clock.until(many.execute(['x', 'y'])), await kit.clock.until(chief.execute('go'))]
  await kit.runtime.settled(1_000)

  expect(results.map(({ error }) => error)).toEqual([undefined, undefined])
  expect(seen).toEqual(results.map(({ report }) => report))
  expect(heard).toEqual(expect.arrayContaining(['batch batch.item.completed many', 'batch batch.completed many', 'planner planner.completed chief']))
  expect(heard.filter((line) => line === 'workflow workflow.completed one')).toHaveLength(2)
  expect(() => batch(one, { on: { '*': 1 as never } })).toThrow(expect.objectContaining({ code: 'LADDER_CONFIG' }))
})
