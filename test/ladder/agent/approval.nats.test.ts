/** Calls that wait for a person, decided about in another process than the one that asked. */
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createRuntime, tool } from '../../../src/index.ts'
import { agent, ladder } from '../../../src/ladder/index.ts'
import { natsForAll } from '../../support/nats.ts'

const server = natsForAll()
const usage = { inputTokens: 7, outputTokens: 3 }

/** A node of its own, with executables of its own. */
const aNode = async (prefix: string, did: string[], where: string) => {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ sum: z.number() }),
    approval: true,
    onCrash: 'retry',
    execute: ({ sum }) => (did.push(`${where} paid ${sum}`), `paid ${sum}`),
  })
  const clerk = agent({ name: 'clerk', model: 'test/a', tools: [pay] })
  const models = {
    'test/a': [
      { calls: [{ name: 'pay', input: { sum: 5 } }], usage },
      { text: 'done', usage },
    ],
  }
  return { clerk, runtime: await createRuntime({ transport: server.url, prefix, extensions: [ladder({ executables: [clerk] })], models }) }
}

test('[WL-129] asked on one node and decided on another: the tool runs once, with what was decided, and both are told how it ended', async () => {
  const did: string[] = []
  const [here, there] = [await aNode('approval', did, 'here'), await aNode('approval', did, 'there')]
  const run = here.clerk.execute('pay', { runId: 'r' })
  const pending = await vi.waitFor(
    async () => {
      const all = await there.clerk.pending('r')
      expect(all).toHaveLength(1)
      return all
    },
    { timeout: 30_000, interval: 50 },
  )
  const callId = pending[0]?.callId ?? ''
  // Both decide at once: one of them is told of the other.
  const decided = await Promise.allSettled([
    there.clerk.decide('r', { callId, decision: 'edit', input: { sum: 3 }, by: 'ann' }),
    here.clerk.decide('r', { callId, decision: 'edit', input: { sum: 4 }, by: 'bob' }),
  ])
  expect(decided.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const first = decided[0]?.status === 'fulfilled' ? { by: 'ann', sum: 3 } : { by: 'bob', sum: 4 }
  expect(decided.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'APPROVAL_UNKNOWN', context: { decided: { decision: 'edit', by: first.by } } },
  })
  const result = await run
  expect(result).toMatchObject({ data: 'done', report: { children: [{ status: 'completed', decision: { decision: 'edit', by: first.by } }] } })
  expect(did.map((one) => one.replace(/^\w+ /, ''))).toEqual([`paid ${first.sum}`])
  expect((await there.clerk.execute('pay', { runId: 'r' })).report).toEqual(result.report)
  await Promise.all([here.runtime.close(), there.runtime.close()])
})
