/** Budgets, guardrails, middleware and kept answers in runs that are killed. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ModelRequest, tool } from '../../../src/index.ts'
import { agent, type Checked, memoryAnswers, middleware } from '../../../src/ladder/index.ts'
import { aLadderOf, killedAt, timeless } from '../a-ladder.ts'

const usage = { inputTokens: 40, outputTokens: 20 }
const aLook = (did: string[]) =>
  tool({ name: 'look', description: 'Looks.', input: z.object({}), onCrash: 'retry', execute: (_, { callId }) => did.push(callId) && 'seen' })

/** Looks twice, and answers. */
const models = (paid: string[]) => {
  const model = (who: string) => (request: ModelRequest) => {
    const place = request.messages.filter(({ role }) => role === 'assistant').length
    paid.push(`${who} ${place}`)
    return place < 2 ? { text: `look ${place}`, calls: [{ name: 'look' }], usage } : { text: 'found', usage }
  }
  return { 'test/a': model('a'), 'test/b': model('b') }
}

const counter = () =>
  middleware({
    name: 'counter',
    state: { trips: 0, said: [] as string[] },
    execute: { before: ({ state }) => void state.said.push('begun'), after: ({ state }, data) => ({ result: { data, ...state } }) },
    trip: {
      before: ({ state }) => void (state.trips += 1),
      after: ({ state }, text) => void state.said.push(text),
    },
    tool: { after: (_, output) => ({ result: `${String(output)}!` }) },
  })

const made = {
  'a budget that is used up': (did: string[]) => agent({ name: 'it', model: 'test/a', tools: [aLook(did)], budget: { maxTokens: 100 } }),
  'a budget with another model': (did: string[]) =>
    agent({ name: 'it', model: 'test/a', tools: [aLook(did)], budget: { maxTokens: 100, onViolation: 'fallback', fallback: 'test/b' } }),
  'guardrails that refuse': (did: string[]) =>
    agent({
      name: 'it',
      model: 'test/a',
      tools: [aLook(did)],
      guardrails: { input: [{ name: 'in', check: () => true }], output: [{ name: 'out', check: ({ trip }: Checked) => trip < 2 }] },
    }),
  middleware: (did: string[]) => agent({ name: 'it', model: 'test/a', tools: [aLook(did)], middleware: [counter()] }),
  'all of it': (did: string[]) =>
    agent({
      name: 'it',
      model: 'test/a',
      tools: [aLook(did)],
      middleware: [counter(), { name: 'saver', execute: { onError: (_, { code }) => ({ result: code }) } }],
      guardrails: { output: [{ name: 'out', check: () => true }] },
      budget: { maxTokens: 150 },
      cache: { store: memoryAnswers() },
    }),
}

test.for(Object.entries(made))(
  '[WL-125, WL-126, WL-127, WL-128] with %s, killed at any commit it comes to the same report; no tool runs that had not, no answer that was written down is paid twice',
  async ([, make]) => {
    const [calm, paidOnce]: [string[], string[]] = [[], []]
    const it = make(calm)
    await using kit = await aLadderOf(models(paidOnce), it)
    const whole = await kit.clock.until(it.execute('go', { runId: 'r' }))
    const { seq } = await kit.runtime.actor('it', 'r').snapshot()
    expect(paidOnce.length).toBeGreaterThan(1)

    for (let commit = 1; commit <= seq; commit++) {
      const [did, paid]: [string[], string[]] = [[], []]
      const again = make(did)
      await using doomed = await aLadderOf(models(paid), again)
      const result = await killedAt(doomed, () => again.execute('go', { runId: 'r' }), commit)
      expect(timeless(result), `killed at commit ${commit}`).toEqual(timeless(whole))
      expect(new Set(did), `killed at commit ${commit}`).toEqual(new Set(calm))
      expect(paid.length, `killed at commit ${commit}: ${paid.join()}`).toBeLessThanOrEqual(paidOnce.length + 1)
      expect(await doomed.runtime.replay({ kind: 'it', id: 'r' }), `killed at commit ${commit}`).toMatchObject({ verdict: 'identical' })
    }
  },
)
