/** What is left of a run of many parts that has ended. */
import { expect, test } from 'vitest'
import { constants } from '../../src/contracts/constant.ts'
import { type AnyExecutable, batch, workflow } from '../../src/ladder/index.ts'
import { aLadder } from './a-ladder.ts'

const steps = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `step-${index}`, run: () => ({ index }) }))
const item = workflow({ name: 'item', steps: steps(1) })

/** Lists and records of a value that are copied for each who reads it. */
const copied = (value: unknown): number => {
  if (typeof value !== 'object' || value === null || constants.has(value)) return 0
  return Object.values(value).reduce((sum: number, part) => sum + copied(part), 1)
}

test.each<[string, (count: number) => { one: AnyExecutable; input?: unknown }]>([
  ['workflow', (count) => ({ one: workflow({ name: 'many', maxSteps: count, steps: steps(count), output: () => 'done' }) })],
  ['batch', (count) => ({ one: batch(item, { name: 'many' }), input: Array.from({ length: count }, (_, index) => index) })],
])(
  'a %s of two hundred parts that has ended is read with as few copies as one of forty, and tells its report as often as it is asked',
  async (_, made) => {
    const ended = async (count: number): Promise<number> => {
      const { one, input } = made(count)
      await using kit = await aLadder(one)
      const { report } = await kit.clock.until(one.execute(input, { runId: 'r' }))
      expect(report.children).toHaveLength(count)

      const { context, output } = await kit.runtime.actor('many', 'r').snapshot()
      await kit.crash()
      await kit.restart()

      expect(await kit.clock.until(one.look('r'))).toMatchObject({ report })
      return copied([context, output])
    }

    const [few, many] = [await ended(40), await ended(200)]

    expect(many).toBeLessThan(few + 20)
  },
)
