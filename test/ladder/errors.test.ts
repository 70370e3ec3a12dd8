/** Every way in which a rung fails, by its code. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { scriptedModel, tool } from '../../src/index.ts'
import {
  type AnyExecutable,
  agent,
  END,
  type LadderCode,
  LadderError,
  type LadderErrorBody,
  ladder,
  ladderCodes,
  memoryStore,
  planner,
  router,
  supervisor,
  workflow,
} from '../../src/ladder/index.ts'
import type { ScriptedResponse } from '../../src/testing/index.ts'
import { aLadderOf } from './a-ladder.ts'

type Failed = LadderError | LadderErrorBody | undefined
type Story = () => Promise<Failed>

/** Of a run whose model answers so. */
const ended =
  (executable: AnyExecutable, script: readonly ScriptedResponse[] = [], options: { cancel?: true } = {}): Story =>
  async () => {
    await using kit = await aLadderOf({ 'test/a': script }, executable)
    const signal = options.cancel ? AbortSignal.abort('enough') : undefined
    const { error, report } = await kit.clock.until(executable.execute('go', { runId: 'r', ...(signal && { signal }) }))
    expect(report.error, 'the report says the same').toEqual(error?.toJSON())
    expect(report.status).toBe(report.terminatedBy === 'max-iterations' ? 'max-iterations' : options.cancel ? 'cancelled' : 'failed')
    return error
  }

/** Of what is thrown where it is written, before anything runs. */
const thrown =
  (write: () => unknown): Story =>
  async () => {
    try {
      await write()
    } catch (error) {
      return error as LadderError
    }
    return undefined
  }

/** Of a run that one version has begun, and another one is to go on with. */
const drifted = (made: (version: string) => AnyExecutable): Story => {
  return async () => {
    const [first, second] = [made('1'), made('2')]
    await using kit = await aLadderOf({ 'test/a': [{ text: 'x' }] }, first)
    await kit.clock.until(first.execute('go', { runId: 'r' }))
    await kit.restart({ extensions: [ladder({ executables: [second] })] })
    return await thrown(() => kit.clock.until(second.execute('go', { runId: 'r' })))()
  }
}

const asked = (definition: object = {}): AnyExecutable => agent({ name: 'clerk', model: 'test/a', maxRetries: 0, ...definition })
const provider = (code: string, more: object = {}): Story => ended(asked(), [{ error: { code, ...more } }] as never)
const dig = tool({ name: 'dig', description: 'Digs.', input: z.object({ at: z.number().optional() }), onCrash: 'retry', execute: () => 'nothing' })
const digging = { calls: [{ name: 'dig' }], usage: { inputTokens: 60, outputTokens: 40 } }
const fail = (): never => {
  throw new Error('no ink')
}
const steps = (definition: object, step: object = { name: 'one', run: () => 1 }): AnyExecutable =>
  workflow({ name: 'steps', steps: [step], ...definition } as never)
const team = (definition: object = {}): AnyExecutable => supervisor({ name: 'team', intents: { one: () => ({}) }, route: () => END, ...definition })

const stories: Partial<Record<LadderCode, Story>> = {
  LADDER_CONFIG: thrown(() => agent({ name: 'No' })),
  SCHEMA_VALIDATION_FAILED: ended(asked({ output: z.object({ n: z.number() }) }), [{ text: 'no' }]),
  APPROVAL_UNKNOWN: async () => {
    const clerk = asked()
    await using kit = await aLadderOf({ 'test/a': [{ text: 'x' }] }, clerk)
    await kit.clock.until(clerk.execute('go', { runId: 'r' }))
    return await thrown(() => kit.clock.until(clerk.decide('r', { callId: 'x', decision: 'approve' })))()
  },
  AGENT_EXEC_FAILED: ended(asked({ prompt: fail })),
  AGENT_CANCELLED: ended(asked(), [{ text: 'x', delayMs: 60_000 }], { cancel: true }),
  AGENT_MAX_TRIPS: ended(asked({ tools: [dig], maxTrips: 1 }), [digging, digging]),
  AGENT_DRIFT: drifted((version) => asked({ version })),
  BUDGET_EXCEEDED: ended(asked({ tools: [dig], limits: { tokens: 50 } }), [digging, digging]),
  CONTENT_FILTER: ended(asked(), [{ text: 'x', finish: 'content-filter' }]),
  CONTEXT_LENGTH_EXCEEDED: provider('provider_overflow', { message: 'prompt is too long: 208310 tokens > 200000 maximum' }),
  PROVIDER_AUTH: provider('provider_auth'),
  PROVIDER_ERROR: provider('provider_unavailable'),
  PROVIDER_INVALID_REQUEST: provider('provider_rejected'),
  PROVIDER_QUOTA_EXCEEDED: provider('provider_billing'),
  PROVIDER_RATE_LIMIT: provider('provider_rate_limit', { retryAfterMs: 2000 }),
  PROVIDER_TIMEOUT: provider('provider_timeout'),
  TOOL_EXEC_FAILED: async () => {
    const broken = tool({ name: 'dig', description: 'Digs.', input: z.object({}), onCrash: 'retry', execute: fail })
    const clerk = asked({ tools: [broken] })
    await using kit = await aLadderOf({ 'test/a': [{ calls: [{ name: 'dig' }] }, { text: 'well' }] }, clerk)
    return (await kit.clock.until(clerk.execute('go'))).report.children[0]?.error
  },
  SUPERVISOR_CONFIG: thrown(() => team({ intents: {} })),
  SUPERVISOR_INTENT_MIXED_DISPATCH: thrown(() => team({ intents: { one: { agent: asked(), run: () => ({}) } } })),
  SUPERVISOR_INTENT_DESCRIPTION_REQUIRED: thrown(() => team({ route: undefined, router: router({ intents: ['one'] }) })),
  SUPERVISOR_FAILED: ended(team({ route: fail })),
  SUPERVISOR_MAX_ITERATIONS: ended(team({ route: () => 'one', maxIterations: 1 })),
  SUPERVISOR_INVALID_ROUTE: ended(team({ route: () => 'nobody' })),
  SUPERVISOR_CANCELLED: ended(team({ route: () => new Promise(() => undefined) }), [], { cancel: true }),
  SUPERVISOR_DRIFT: drifted((version) => team({ version })),
  STORE_FAILED: thrown(async () => {
    const row = { orchestrator_name: 'o', session_id: 's', turn_index: 0, state: {}, last_route: null, signature: 'x', version: null }
    const more = { summarized_through: null, lock_acquired_at: null, lock_expires_at: null, saved_at: '2026-01-01T00:00:00.000Z' }
    const store = memoryStore()
    await store.save({ ...row, ...more })
    await store.save({ ...row, ...more, state: { changed: true } })
  }),
  WORKFLOW_ERROR: thrown(() => steps({ steps: [] })),
  WORKFLOW_DRIFT: drifted((version) => steps({ version })),
  WORKFLOW_CANCELLED: ended(steps({}, { name: 'one', sleep: 60_000 }), [], { cancel: true }),
  WORKFLOW_MAX_STEPS: ended(steps({ maxSteps: 1 }, { name: 'one', run: () => 1, nextStep: () => ({ goto: 'one' }) })),
  WORKFLOW_INVALID_GOTO: ended(steps({}, { name: 'one', run: () => 1, nextStep: () => ({ goto: 'nowhere' }) })),
  WORKFLOW_FAILED: ended(steps({ output: fail })),
  STEP_FAILED: ended(steps({}, { name: 'one', run: fail })),
  STEP_TIMEOUT: ended(steps({}, { name: 'one', waitFor: 'paid', timeoutMs: 1000 })),
}

/** Told by the tests of their own rungs. */
const elsewhere: readonly LadderCode[] = [
  'GUARDRAIL_VIOLATION',
  'STEP_IN_DOUBT',
  'INPUT_CONFLICT',
  'SUPERVISOR_DISPATCH_CYCLE',
  'ORCHESTRATOR_CONFIG',
  'ORCHESTRATOR_FAILED',
  'ORCHESTRATOR_CANCELLED',
  'ORCHESTRATOR_DRIFT',
  'ORCHESTRATOR_LOCKED',
  'ORCHESTRATOR_LOCK_LOST',
  'ORCHESTRATOR_COMMAND_UNKNOWN',
  'PLANNER_FAILED',
  'PLANNER_PLAN_INVALID',
  'PLANNER_CANCELLED',
  'PLANNER_DRIFT',
  'MEMORY_CONFIG',
  'BATCH_CONFIG',
  'BATCH_CANCELLED',
  'BATCH_DRIFT',
  'BATCH_FAILED',
  'SCHEDULE_FAILED',
  'SCHEDULE_CONFIG',
]

test('[WL-004] each code has a story, here or where its rung is', () => {
  expect([...Object.keys(stories), ...elsewhere].sort()).toEqual(Object.keys(ladderCodes).sort())
})

test('[WL-004] codes mean the same in each version: none of them goes, or comes into another category', () => {
  const promised: Record<string, string> = {
    validation: 'SCHEMA_VALIDATION_FAILED PLANNER_PLAN_INVALID WORKFLOW_ERROR ORCHESTRATOR_CONFIG',
    execution: 'AGENT_EXEC_FAILED TOOL_EXEC_FAILED STEP_FAILED SUPERVISOR_FAILED ORCHESTRATOR_FAILED PLANNER_FAILED',
    cancelled: 'AGENT_CANCELLED WORKFLOW_CANCELLED SUPERVISOR_CANCELLED ORCHESTRATOR_CANCELLED PLANNER_CANCELLED',
    limit: 'AGENT_MAX_TRIPS BUDGET_EXCEEDED WORKFLOW_MAX_STEPS SUPERVISOR_MAX_ITERATIONS',
    drift: 'AGENT_DRIFT WORKFLOW_DRIFT SUPERVISOR_DRIFT ORCHESTRATOR_DRIFT PLANNER_DRIFT',
    provider:
      'PROVIDER_ERROR PROVIDER_RATE_LIMIT PROVIDER_QUOTA_EXCEEDED PROVIDER_AUTH PROVIDER_INVALID_REQUEST CONTEXT_LENGTH_EXCEEDED CONTENT_FILTER',
    timeout: 'PROVIDER_TIMEOUT',
    policy: 'GUARDRAIL_VIOLATION',
    configuration: 'WORKFLOW_INVALID_GOTO SUPERVISOR_INVALID_ROUTE SUPERVISOR_DISPATCH_CYCLE',
  }
  const expected = Object.entries(promised).flatMap(([category, codes]) => codes.split(' ').map((code) => [code, category]))
  expect(ladderCodes).toMatchObject(Object.fromEntries(expected))
  expect(expected).toHaveLength(36)
})

test('[WL-004] each code says what to do next, also where nobody has said more, and as it was stored without a word of that', () => {
  for (const code of Object.keys(ladderCodes) as LadderCode[]) {
    const { hint } = new LadderError(code, 'broken')
    expect(hint, code).toMatch(/^\S.{10,}[^.\s]$/)
    const { hint: _, ...stored } = new LadderError(code, 'broken').toJSON()
    expect(LadderError.from(stored as LadderErrorBody).hint).toBe(hint)
  }
})

for (const [code, story] of Object.entries(stories))
  test(`[WL-003, WL-004, WL-006] ${code} has its category, says what it was about, and comes through JSON unharmed`, async () => {
    const error = await story()
    const body = JSON.parse(JSON.stringify(error)) as LadderErrorBody
    const said = expect.stringMatching(/\S/)
    expect(body).toMatchObject({ code, category: ladderCodes[code as LadderCode], message: said, hint: said, context: expect.any(Object) })
    const again = LadderError.from(body)
    expect(again).toBeInstanceOf(LadderError)
    expect(JSON.parse(JSON.stringify(again))).toEqual(body)
    const facts: Partial<Record<LadderCode, object>> = {
      PROVIDER_RATE_LIMIT: { retryAfter: 2000 },
      CONTEXT_LENGTH_EXCEEDED: { limit: 200_000, actual: 208_310 },
      BUDGET_EXCEEDED: { unit: 'tokens', limit: 50, actual: 100 },
      AGENT_CANCELLED: { cancelledAt: 0, reason: 'enough' },
      WORKFLOW_MAX_STEPS: { maxSteps: 1 },
      SUPERVISOR_INVALID_ROUTE: { availableKeys: ['one'], raw: 'nobody' },
    }
    expect(body.context).toMatchObject(facts[code as LadderCode] ?? {})
    const thrownByCode: LadderCode[] = ['AGENT_EXEC_FAILED', 'SUPERVISOR_FAILED', 'WORKFLOW_FAILED', 'STEP_FAILED']
    if (thrownByCode.includes(code as LadderCode)) expect(body.cause).toBe('no ink')
  })

test('[WL-003] what an author’s code has thrown, or gave that nobody can store, is the cause, in whichever place it shows', async () => {
  const plan = JSON.stringify({ steps: [{ id: 'a', capability: 'dig', input: 1 }] })
  const digs = { dig: { description: 'Digs.', use: () => 1 } }
  const odd = { odd: () => 1 }
  const places: [LadderCode, AnyExecutable][] = [
    ['PLANNER_FAILED', planner({ name: 'clerk', model: 'test/a', capabilities: digs, output: fail })],
    ['STEP_FAILED', steps({}, { name: 'one', run: () => odd })],
    ['AGENT_EXEC_FAILED', asked({ name: 'writer', prompt: fail })],
  ]
  await using kit = await aLadderOf({ 'test/a': () => ({ text: plan }) }, ...places.map(([, place]) => place))
  for (const [code, place] of places) {
    const { error } = await kit.clock.until(place.execute('go'))
    const body = error?.toJSON()
    expect(body, code).toMatchObject({ code, cause: expect.stringMatching(/\S/) })
    expect(body?.message, code).toContain(body?.cause)
  }
})

test('[WL-004] how long a conversation is, and may be, is told where the provider does not say it', async () => {
  const clerk = asked()
  const model = scriptedModel([{ error: { code: 'provider_overflow', message: 'too much' } }], { contextTokens: 20_000 })
  await using kit = await aLadderOf({ 'test/a': model as never }, clerk)
  const { error } = await kit.clock.until(clerk.execute('go'.repeat(1000)))
  expect(error).toMatchObject({ code: 'CONTEXT_LENGTH_EXCEEDED', context: { limit: 20_000, actual: expect.any(Number) } })
  expect(error?.context.actual).toBeGreaterThan(400)
})
