/** What an author writes is checked where it is written, with the name of the field. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { toolServer } from '../../src/api/nats/tool-server.ts'
import type { Tool } from '../../src/contracts/tool.ts'
import { agent } from '../../src/runtime/agent.ts'

const refusal = (definition: object): unknown => {
  try {
    agent({ name: 'main', ...definition })
  } catch (error) {
    return error
  }
}

const fail = (): never => {
  throw new TypeError('unreadable')
}

test.each([
  ['limits.steps', { limits: { steps: -1 } }],
  ['limits.tokens', { limits: { tokens: 0.5 } }],
  ['limits.wallTimeMs', { limits: { wallTimeMs: '1h' } }],
  ['limits.runTimeoutMs', { limits: { runTimeoutMs: 0 } }],
  ['limits.modelCall.idleTimeoutMs', { limits: { modelCall: { idleTimeoutMs: 0 } } }],
  ['limits.modelCall.outputCharsMax', { limits: { modelCall: { outputCharsMax: Number.NaN } } }],
  ['limits.modelCall', { limits: { modelCall: 60 } }],
  ['limits', { limits: 'many' }],
  ['limits', { limits: null }],
  ['maxRetries', { maxRetries: -1 }],
  ['context.turns', { context: { turns: 0 } }],
  ['context.memoryFlush.softTokens', { context: { memoryFlush: { softTokens: -1 } } }],
  ['queue.mode', { queue: { mode: 'never' } }],
  ['queue.cap', { queue: { cap: 1000 } }],
  ['fallbacks', { fallbacks: 't/m' }],
  ['choice.aliases.fast', { choice: { aliases: { fast: 'nothing' } } }],
  ['choice', { choice: null }],
  ['choice', { choice: 42 }],
  ['choice', { choice: 'x' }],
  ['choice.allowed', { choice: { allowed: {} } }],
  ['choice.allowed', { choice: { allowed: 5 } }],
  ['choice.allow', { choice: { allow: [] } }],
  ['choice.aliases', { choice: { aliases: null } }],
  ['settings', { settings: null }],
  ['settings', { settings: 42 }],
  ['settings.temperature', { settings: { temperature: 'hot' } }],
  ['settings.temprature', { settings: { temprature: 1 } }],
  ['settings.maxOutputTokens', { settings: { maxOutputTokens: 0 } }],
  ['instructions', { instructions: null }],
  ['instructions', { instructions: 42 }],
  ['instructions', { instructions: {} }],
  ['fallbacks.0', { fallbacks: ['gpt'] }],
  ['maxRetries', { maxRetries: Number.MAX_SAFE_INTEGER }],
  ['model', { model: Symbol('t/m') }],
  ['model', { model: null }],
  ['name', { name: Symbol('main') }],
  ['model', { model: 'gpt' }],
  ['name', { name: 'a b' }],
])('%s that cannot be is refused, with a hint', (field, definition) => {
  expect(refusal(definition)).toMatchObject({ code: 'bad_request', field, hint: expect.any(String) })
})

test.each([
  ['stepMax', { stepMax: 5 }, 'limits: { steps }'],
  ['maxSteps', { maxSteps: 5 }, 'limits: { steps }'],
  ['stopWhen', { stopWhen: () => true }, 'limits: { steps }'],
  ['modelAttemptMax', { modelAttemptMax: 2 }, 'maxRetries'],
  ['limits.idleTimeoutMs', { limits: { idleTimeoutMs: 5 } }, 'modelCall'],
  ['limits.stepMax', { limits: { stepMax: 5 } }, 'limits: { steps }'],
  ['limits.step', { limits: { step: 5 } }, 'did you mean steps'],
  ['queueMode', { queueMode: 'collect' }, 'queue: { mode }'],
  ['queue.queueMode', { queue: { queueMode: 'collect' } }, 'mode'],
  ['historyTurns', { historyTurns: 5 }, 'context: { turns }'],
  ['delivery', { delivery: { streaming: true } }, 'chat({ agents: { main: { delivery } } })'],
  ['heartbeat', { heartbeat: {} }, 'statecast/chat'],
  ['system', { system: 'Be brief.' }, 'instructions'],
  ['temperature', { temperature: 0 }, 'settings: { temperature }'],
  ['idleTimeoutMs', { idleTimeoutMs: 5 }, 'limits: { modelCall: { idleTimeoutMs } }'],
  ['totalTimeoutMs', { totalTimeoutMs: 5 }, 'limits: { modelCall: { totalTimeoutMs } }'],
  ['limits.modelCall.idleTimeout', { limits: { modelCall: { idleTimeout: 5 } } }, 'did you mean idleTimeoutMs'],
  ['maxTokens', { maxTokens: 5 }, 'settings: { maxOutputTokens }'],
  ['topP', { topP: 1 }, 'settings: { temperature }'],
  ['allowed', { allowed: [] }, 'choice: { allowed }'],
  ['aliases', { aliases: {} }, 'choice: { aliases }'],
  ['settings.temprature', { settings: { temprature: 1 } }, 'did you mean temperature'],
  ['primary', { primary: 'a/b' }, 'there are: '],
])('an option %s that is elsewhere is refused with its place', (field, definition, hint) => {
  expect(refusal(definition)).toMatchObject({ code: 'bad_request', field, hint: expect.stringContaining(hint) })
})

test('each option becomes the setting of a turn that it is about', () => {
  const { profile, limits } = agent({
    name: 'main',
    maxRetries: 1,
    thinking: 'low',
    limits: { steps: 1, tokens: 2, toolCalls: 3, wallTimeMs: 4, runTimeoutMs: 5, modelCall: { idleTimeoutMs: 6 } },
    context: { tokens: 7, turns: 8, pruning: { protect: 9 }, memoryFlush: { prompt: 'note' } },
    queue: { mode: 'collect', debounceMs: 10, cap: 11, drop: 'old', lane: 'slow' },
  })

  expect(profile).toEqual({
    modelAttemptMax: 2,
    thinking: 'low',
    stepMax: 1,
    tokenMax: 2,
    toolCallMax: 3,
    turnTimeMs: 4,
    runTimeoutMs: 5,
    contextTokens: 7,
    historyTurns: 8,
    pruning: { protect: 9 },
    memoryFlush: { prompt: 'note' },
    queueMode: 'collect',
    debounceMs: 10,
    queueCap: 11,
    queueDrop: 'old',
    lane: 'slow',
  })
  expect(limits).toEqual({ idleTimeoutMs: 6, totalTimeoutMs: 600_000, outputCharsMax: 2_000_000 })
})

test('what is left out, or undefined, is as usual', () => {
  const usual = { idleTimeoutMs: 60_000, totalTimeoutMs: 600_000, outputCharsMax: 2_000_000 }

  expect(agent({ name: 'main' })).toMatchObject({ limits: usual, profile: {} })
  expect(agent({ name: 'main', limits: { steps: undefined }, maxRetries: undefined }).profile).toEqual({})
})

const whole = { name: 'add', description: 'adds', input: z.object({ a: z.number() }), execute: () => 1 }
const { name: _, ...nameless } = whole

test.each<[string, unknown, string]>([
  ['a tool without a name, as other libraries write it', [{ description: 'adds', inputSchema: whole.input, execute: () => 1 }], 'tools[0].name'],
  ['the second one without a name', [whole, nameless], 'tools[1].name'],
  ['a tool without a schema', [{ ...whole, input: undefined }], 'tools[0].input'],
  ['a tool with two schemas', [{ ...whole, inputSchema: whole.input }], 'tools[0].inputSchema'],
  ['a tool that cannot be executed', [{ ...whole, execute: undefined }], 'tools[0].execute'],
  ['a name for a tool', ['add'], 'tools[0]'],
  ['nothing', [undefined], 'tools[0]'],
  ['tools by name', { add: whole }, 'tools'],
])('%s is refused before any turn, by an agent and by a tool server', (_name, tools, field) => {
  const refused = { code: 'bad_request', field, hint: expect.any(String) }

  expect(refusal({ tools })).toMatchObject(refused)
  expect(() => toolServer({} as never, { name: 'tools', tools: tools as never })).toThrow(expect.objectContaining(refused))
})

test('a tool that was written without tool() may be written as the AI SDK does', () => {
  const { input, ...rest } = whole
  const settings = { onCrash: 'retry', timeoutMs: 1, attemptMax: 1, outputBytesMax: 1, approval: true }
  const theirs = [
    { ...rest, inputSchema: input, needsApproval: true },
    { ...rest, name: 'sum', ...settings, inputSchema: input },
  ] as unknown as Tool[]

  expect(agent({ name: 'main', tools: theirs }).tools).toMatchObject([
    { name: 'add', input, approval: true, onCrash: 'once' },
    { name: 'sum', input, approval: true, onCrash: 'retry' },
  ])
})

test('a tool that was written without tool() gets what it left out', () => {
  expect(agent({ name: 'main', tools: [whole as unknown as Tool] }).tools[0]).toMatchObject({ name: 'add', onCrash: 'once', timeoutMs: 60_000 })
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a getter that throws', Object.defineProperty({ name: 'main' }, 'settings', { get: fail, enumerable: true })],
  ['a getter within a group that throws', { name: 'main', limits: Object.defineProperty({}, 'steps', { get: fail, enumerable: true }) }],
  ['services without words', { name: 'main', services: [Symbol('crm')] }],
])('%s instead of options is refused as a bad request', (_name, given) => {
  expect(() => agent(given as never)).toThrow(expect.objectContaining({ code: 'bad_request', hint: expect.any(String) }))
})

test('an agent stays as it was checked: neither what it was made of nor the agent itself changes it', () => {
  const choice = { allowed: ['t/m'] }
  const made = agent({ name: 'main', choice, limits: { steps: 1 }, settings: { temperature: 0 }, context: { pruning: { allow: ['x'] } } })
  choice.allowed.push('nothing')

  expect(made.choice).toEqual({ allowed: ['t/m'] })
  for (const part of [made, made.profile, made.profile.pruning?.allow, made.limits, made.settings, made.choice?.allowed])
    expect(part).toSatisfy(Object.isFrozen)
})
