/**
 * A provider that refuses a level of thinking gets one that it takes, however it lists them.
 * Sources beside each; the words of the others are those of their documentation.
 */
import { expect, test } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'
import { createModels } from '../../src/models/models.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { type ChatRequest, startOpenAiServer } from '../support/openai-server.ts'
import { anEnvironment } from '../transport/harness.ts'

const openAi = (message: string, more: object = {}): object => ({ error: { message, type: 'invalid_request_error', ...more } })
const pydantic = (msg: string): object => ({ detail: [{ type: 'literal_error', loc: ['body', 'reasoning_effort'], msg, input: 'high', ctx: {} }] })

/** What each server answers to `high`, and the level that follows. */
const refusals: [server: string, status: number, body: object, next: string][] = [
  [
    'OpenAI (openai/codex#6647)',
    400,
    openAi("Unsupported value: 'high' is not supported with the 'gpt-5.1-codex' model. Supported values are: 'low', 'medium'.", {
      param: 'reasoning.effort',
      code: 'unsupported_value',
    }),
    'low',
  ],
  ['OpenAI, an invalid value', 400, openAi("Invalid value: 'high'. Supported values are: 'low' and 'medium'.", { param: 'reasoning_effort' }), 'low'],
  ['OpenAI, an invalid effort', 400, openAi("Invalid reasoning effort: 'high'. Supported efforts: 'medium', 'low'."), 'medium'],
  [
    'GitHub Copilot (caozhiyuan/copilot-api#190)',
    400,
    openAi('output_config.effort "high" is not supported by model claude-opus-4.7; supported values: [medium]', { code: 'invalid_reasoning_effort' }),
    'medium',
  ],
  ['Ollama (ollama/ollama#17141)', 400, openAi('invalid reasoning value: \'high\' (must be "medium", "low", "max", or "none")'), 'medium'],
  [
    'Ollama, native (BerriAI/litellm#34574)',
    500,
    { error: 'Ollama_chatException - {"error":"invalid think value: \\"high\\" (must be \\"medium\\", \\"low\\")"}' },
    'medium',
  ],
  ['Ollama (ollama/ollama#17859)', 400, openAi('invalid think value: "high" (must be "medium", "low", "max", true, or false)'), 'medium'],
  ['Groq (earendil-works/pi#1745)', 400, openAi('reasoning_effort must be one of none or default'), 'off'],
  [
    'llm-rosetta (Oaklight/llm-rosetta#243)',
    400,
    openAi("Failed to parse request: Expected one of ('minimal', 'low', 'medium', 'max') at 'reasoning.effort', got 'high'"),
    'minimal',
  ],
  ['CLIProxyAPI (nguyenphutrong/quotio#287)', 400, openAi('level "high" not supported, valid levels: low, medium, xhigh'), 'low'],
  [
    'Logos (ls1intum/edutelligence#749)',
    500,
    { error: { type: 'internal_error', message: 'Unexpected reasoning effort high. Supported types are xhigh (default), medium, and low.' } },
    'xhigh',
  ],
  [
    'Mistral (mistralai/mistral-vibe#1117)',
    400,
    { object: 'error', message: "reasoning_effort 'high' is not supported. Supported values: ['low', 'max']" },
    'low',
  ],
  ['Mistral, by schema', 422, pydantic("Input should be 'none', 'minimal', 'low' or 'medium'"), 'off'],
  ['Cerebras, by schema', 422, openAi("body.reasoning_effort: Input should be 'low' or 'medium'"), 'low'],
  [
    'vLLM',
    400,
    openAi(
      "1 validation error for ChatCompletionRequest\nreasoning_effort\n  Input should be 'low' or 'medium' [type=literal_error, input_value='high', input_type=str]",
    ),
    'low',
  ],
  [
    'Kimi (router-for-me/CLIProxyAPI#1307)',
    400,
    openAi("Validation error for `reasoning_effort`: expected one of `'low' | 'medium'`, received `'high'`."),
    'low',
  ],
  [
    'SGLang (router-for-me/CLIProxyAPI#1572)',
    400,
    {
      object: 'error',
      message:
        "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low' or 'medium'\", 'input': 'high'}",
    },
    'low',
  ],
  ['a server with a field for them', 400, { error: { message: 'unsupported reasoning effort', supported_values: ['minimal', 'low'] } }, 'minimal'],
  ['a server with a list of lines', 400, openAi('thinking level not allowed: high. Allowed levels:\n- low\n- medium\n'), 'low'],
]

const key = 'sk-test-THISMUSTNOTBESHOWN1234'

const answered = async (ref: string, env: Record<string, string>) => {
  const model = await createModels({ environment: { ...anEnvironment(), random: { next: () => 0.5 } }, env }).get(ref)
  const agents = [agent({ name: 'main', model: 'test/thinker', thinking: 'high' })]
  const runtime = await createRuntime({ transport: 'memory:', agents, models: { 'test/thinker': model } })
  afterThisTest(() => runtime.close())
  return (await (await runtime.session('main').send('hi')).result()).outcome
}

test.each(refusals)('[OC-52] %s (%i): the model answers at the next level', async (_, status, body, next) => {
  const levels: (string | undefined)[] = []
  const server = await startOpenAiServer({
    script: () => ({ text: 'yes' }),
    refuse: (request: ChatRequest & { reasoning_effort?: string }) => {
      levels.push(request.reasoning_effort)
      return request.reasoning_effort === 'high'
        ? { kind: 'status', status, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
        : undefined
    },
  })
  afterThisTest(() => server.close())

  expect(await answered('openai-compatible/local', { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: key })).toBe('replied')
  expect(levels).toEqual(['high', next === 'off' ? 'none' : next])
})
