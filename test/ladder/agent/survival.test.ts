/** Agents that have ended, and agents that have changed while a run of them was under way. Those that are killed: ../survival/. */
import { expect, test } from 'vitest'
import { type Agent, agent, ladder } from '../../../src/ladder/index.ts'
import { aLadderOf, timeless } from '../a-ladder.ts'

test('[WL-125] a run that has completed answers again without a call; another version is refused', async () => {
  const paid: string[] = []
  const made = (version: string): Agent<string> => agent({ name: 'clerk', version, model: 'test/a' })
  const first = made('1')
  const answer = () => (paid.push('call'), { text: 'yes' })
  await using kit = await aLadderOf({ 'test/a': answer }, first)
  const whole = await kit.clock.until(first.execute('go', { runId: 'r' }))
  expect(timeless(await kit.clock.until(first.execute('go', { runId: 'r' })))).toEqual(timeless(whole))
  expect(paid).toHaveLength(1)

  const second = made('2')
  await kit.restart({ extensions: [ladder({ executables: [second] })] })
  await expect(kit.clock.until(second.execute('go', { runId: 'r' }))).rejects.toMatchObject({ code: 'AGENT_DRIFT', category: 'drift' })
  expect(paid).toHaveLength(1)
})
