/** Agents that are killed, and agents that have changed while a run of them was under way. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../src/index.ts'
import { type Agent, agent, ladder } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 7, outputTokens: 3 }

/** Two calls of tools at once, an answer that does not fit, and one that does. */
const aClerk = (did: string[]) =>
  agent({
    name: 'clerk',
    model: 'test/a',
    tools: ['look', 'ask'].map((name) =>
      tool({
        name,
        description: `It can ${name}.`,
        input: z.object({}),
        onCrash: 'retry',
        execute: (_, { callId }) => did.push(`${name} ${callId}`) && name,
      }),
    ),
    output: z.object({ found: z.number() }),
    repair: 1,
  })

const model = (paid: string[]) => (request: { messages: { role: string }[] }) => {
  const place = request.messages.filter(({ role }) => role === 'assistant').length
  paid.push(String(place))
  return [
    { calls: [{ name: 'look' }, { name: 'ask' }], usage },
    { text: 'two', usage },
    { text: '{"found":2}', usage },
  ][place] as never
}

test('[WL-125] killed at any commit it comes to the same report; no tool runs under another name, and no answer that was written down is paid twice', async () => {
  const [calm, paidOnce]: [string[], string[]] = [[], []]
  const clerk = aClerk(calm)
  await using kit = await aLadderOf({ 'test/a': model(paidOnce) }, clerk)
  const whole = await kit.clock.until(clerk.execute('go', { runId: 'r' }))
  const { seq } = await kit.runtime.actor('clerk', 'r').snapshot()
  expect(whole).toMatchObject({ data: { found: 2 }, usage: { total: 30 }, report: { trips: 3, children: [{ name: 'look' }, { name: 'ask' }] } })
  expect(paidOnce).toEqual(['0', '1', '2'])

  for (let commit = 1; commit <= seq; commit++) {
    const [did, paid]: [string[], string[]] = [[], []]
    const again = aClerk(did)
    await using doomed = await aLadderOf({ 'test/a': model(paid) }, again)
    const result = await killedAt(doomed, () => again.execute('go', { runId: 'r' }), commit)
    expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
    expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set(calm))
    // The one whose answer was on its way is asked again.
    expect(paid.length, `killed at commit ${commit}: ${paid.join()}`).toBeLessThanOrEqual(4)
    expect(await doomed.runtime.replay({ kind: 'clerk', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
  }
})

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
