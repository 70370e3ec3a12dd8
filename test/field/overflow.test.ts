/**
 * A conversation that is too long is shortened and sent again, in whatever words its server refuses it.
 * Sources beside each (FC-02, FC-20: openclaw/openclaw#64180, #133860, #36074, #58839, cline/kanban#505, can1357/oh-my-pi#3752, jin-bo/agentao#88).
 */
import { APICallError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { agent, createRuntime } from '../../src/index.ts'
import { classify } from '../../src/models/classify.ts'
import { createModels } from '../../src/models/models.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { startOpenAiServer } from '../support/openai-server.ts'
import { anEnvironment } from '../transport/harness.ts'

const codeOf = (status: number, responseBody: string): string =>
  classify(new APICallError({ message: `HTTP ${status}`, url: 'http://x/v1', requestBodyValues: {}, statusCode: status, responseBody }), { now: 0 })
    .code

const openAi = (message: string, more: object = {}): string => JSON.stringify({ error: { message, type: 'invalid_request_error', ...more } })

/** As servers write it. */
const refusals: [server: string, status: number, body: string][] = [
  [
    'OpenAI (chathub-dev/chathub#126)',
    400,
    '{"error":{"message":"This model\'s maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}',
  ],
  [
    'OpenAI (BerriAI/litellm#18927)',
    400,
    openAi('Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens.'),
  ],
  ['OpenAI (can1357/oh-my-pi#3752)', 400, openAi('Your input exceeds the context window of this model. Please adjust your input and try again.')],
  [
    'OpenAI (gptscript-ai/clio#41)',
    400,
    openAi(
      "Invalid 'messages[17].content': string too long. Expected a string with maximum length 1048576, but got a string with length 1744259 instead.",
      { code: 'string_above_max_length' },
    ),
  ],
  [
    'Anthropic (stackblitz/bolt.new#1748)',
    400,
    '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 202128 tokens > 200000 maximum"}}',
  ],
  [
    'Anthropic (continuedev/continue#6080)',
    400,
    '{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}',
  ],
  ['Anthropic, by size', 413, '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'],
  ['Amazon Bedrock (anthropics/claude-code#8637)', 400, '{"message":"Input is too long for requested model."}'],
  [
    'Google (google-gemini/gemini-cli#12098)',
    400,
    '[{"error":{"code":400,"message":"The input token count (314175) exceeds the maximum number of tokens allowed (131072).","status":"INVALID_ARGUMENT"}}]',
  ],
  [
    'xAI (cline/cline#3120)',
    400,
    '{"code":"Client specified an invalid argument","error":"This model\'s maximum prompt length is 131072 but the request contains 136973 tokens."}',
  ],
  ['Groq', 400, openAi('Please reduce the length of the messages or completion.')],
  [
    'Groq, by size (RooCodeInc/Roo-Code#5729)',
    413,
    openAi(
      'Request too large for model `moonshotai/kimi-k2-instruct` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 10000, Requested 21247, please reduce your message size and try again.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
  ],
  [
    'Cerebras (cline/cline#5140)',
    400,
    openAi('Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000'),
  ],
  [
    'GitHub Copilot (microsoft/vscode#289219)',
    400,
    '{"error":{"message":"prompt token count of 1236658 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}',
  ],
  [
    'GitHub Copilot (microsoft/vscode-copilot-release#6700)',
    400,
    '{"error":{"message":"prompt token count of 65446 exceeds the limit of 64000","param":"","code":"","type":""}}',
  ],
  ['Moonshot (MoonshotAI/kimi-cli#2011)', 400, openAi('Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)')],
  ['Moonshot (MoonshotAI/MoonshotAI-Cookbook#18)', 400, openAi('model max length exceeded, max length:8192')],
  ['DashScope (QwenLM/qwen-code#98)', 400, openAi('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]')],
  ['Zhipu', 400, '{"error":{"code":"1261","message":"Prompt exceeds max length"}}'],
  ['MiniMax (agentscope-ai/QwenPaw#1273)', 400, openAi('invalid params, context window exceeds limit (2013)')],
  [
    'DeepSeek (evalstate/fast-agent#621)',
    400,
    openAi(
      "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
    ),
  ],
  [
    'OpenRouter (refly-ai/refly#1177)',
    400,
    openAi("This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input)."),
  ],
  ['Fireworks (can1357/oh-my-pi#1618)', 400, openAi('The prompt is too long: 267657, model maximum context length: 262143')],
  [
    'SiliconFlow (langgenius/dify#19394)',
    400,
    '{"code":20015,"message":"length of prompt_tokens (57535) must be less than max_seq_len (32768)","data":null}',
  ],
  [
    'Mistral',
    400,
    '{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_prompt"}',
  ],
  [
    'Cohere',
    400,
    '{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt."}',
  ],
  [
    'llama.cpp (oobabooga/textgen#7257)',
    400,
    '{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
  ],
  [
    'llama.cpp (ggml-org/llama.cpp#15780)',
    500,
    '{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}',
  ],
  ['llama.cpp (ggml-org/llama.cpp#17284)', 400, openAi('the request exceeds the available context size, try increasing it')],
  ['llama-cpp-python (fynnfluegge/doc-comments-ai#54)', 400, openAi('Requested tokens (590) exceed context window of 512')],
  ['Ollama', 400, openAi('prompt too long; exceeded max context length by 120 tokens')],
  ['Ollama', 500, openAi('the input length exceeds the context length')],
  [
    'LM Studio (lmstudio-ai/lmstudio-bug-tracker#546)',
    400,
    '{"error":"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"}',
  ],
  [
    'LM Studio (lmstudio-ai/lmstudio-bug-tracker#2256)',
    400,
    '{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000 >= n_ctx: 8192)"}',
  ],
  [
    'LM Studio (lmstudio-ai/lmstudio-bug-tracker#1024)',
    400,
    '{"error":"Reached context length of 32000 tokens with model (arch: gpt-oss) that does not currently support mid-generation context overflow."}',
  ],
  ['vLLM (vllm-project/vllm#12165)', 400, openAi('The prompt (total length 25938) is too long to fit into the model (context length 4096).')],
  ['vLLM (xorbitsai/inference#3785)', 400, openAi('The decoder prompt (length 21535) is longer than the maximum model length of 16384')],
  [
    'vLLM',
    400,
    openAi(
      "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
    ),
  ],
  [
    'SGLang (QwenLM/Qwen3#1321)',
    400,
    '{"object":"error","message":"The input (61709 tokens) is longer than the model\'s context length (40960 tokens).","type":"BadRequestError","param":null,"code":400}',
  ],
  [
    'SGLang (sgl-project/sglang#4048)',
    400,
    openAi('Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.'),
  ],
  [
    'TGI (huggingface/text-generation-inference#695)',
    422,
    '{"error":"Input validation error: `inputs` must have less than 1024 tokens. Given: 1168","error_type":"validation"}',
  ],
  [
    'TGI (huggingface/huggingface_hub#2763)',
    422,
    '{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 8740 `inputs` tokens and 500 `max_new_tokens`","http_status_code":422}}',
  ],
  [
    'Cloudflare (anomalyco/models.dev#4422)',
    400,
    openAi("Requested token count exceeds the model's maximum context length of 256000 tokens. You requested a total of 256878 tokens"),
  ],
  [
    'ds4 (antirez/ds4#150)',
    400,
    '{"error":{"message":"Prompt tokens (9000) exceeds context size (8192)","type":"context_exceeded","n_prompt_tokens":9000,"n_ctx":8192}}',
  ],
  ['a server that nobody knows', 400, openAi('the conversation is larger than the context of this model')],
  ['another one', 422, '{"detail":"Prompt length 9000 exceeds model length 8192"}'],
]

/** What waiting, money, another setting or another request cures. */
const others: [string, number, string, string][] = [
  ['Bedrock asks to wait (jin-bo/agentao#88)', 429, '{"message":"Too many tokens, please wait before trying again."}', 'provider_rate_limit'],
  ['tokens per minute', 429, openAi('too many input tokens per minute'), 'provider_rate_limit'],
  ['tokens per minute, as a 400', 400, openAi('Rate limit reached: too many tokens per min'), 'provider_rejected'],
  [
    'OpenAI, tokens per minute',
    429,
    openAi('Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000.', { code: 'rate_limit_exceeded' }),
    'provider_rate_limit',
  ],
  [
    'too large an answer (cloudflare)',
    400,
    openAi('max_completion_tokens is too large: 262144. This model supports at most 256000 completion tokens.'),
    'provider_rejected',
  ],
  [
    'too large an answer (RooCodeInc/Roo-Code#5729)',
    400,
    openAi('`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model'),
    'provider_rejected',
  ],
  [
    'no money (can1357/oh-my-pi#9569)',
    402,
    openAi('This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 4000'),
    'provider_billing',
  ],
  ['a server that is down', 503, 'context window service down', 'provider_unavailable'],
  ['a wrong role', 400, openAi("messages.0.role: Input should be 'user'"), 'provider_rejected'],
  ['a long name', 400, openAi('tools.0.name: String should have at most 64 characters'), 'provider_rejected'],
]

describe('words', () => {
  test.each(refusals)('%s: too long (%i)', (_, status, body) => {
    expect(codeOf(status, body)).toBe('provider_overflow')
  })

  test.each(others)('%s: not too long (%i)', (_, status, body, code) => {
    expect(codeOf(status, body)).toBe(code)
  })

  test('are found in linear time', () => {
    const began = performance.now()
    codeOf(400, `${'input exceed '.repeat(1_500)}`)
    codeOf(400, `${'prompt tokens message '.repeat(900)}`)
    expect(performance.now() - began).toBeLessThan(2_000)
  })
})

/** A server whose window holds so many characters of messages. */
const aSmallServer = async (chars: number, refusal: { status: number; body: string }) => {
  const server = await startOpenAiServer({
    script: () => ({ text: 'yes '.repeat(20) }),
    refuse: ({ messages }) =>
      messages.reduce((sum, { content }) => sum + (typeof content === 'string' ? content.length : 0), 0) > chars
        ? { kind: 'status', ...refusal }
        : undefined,
  })
  afterThisTest(() => server.close())
  const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'sk-test-THISMUSTNOTBESHOWN1234' }
  const model = await createModels({ environment: { ...anEnvironment(), random: { next: () => 0.5 } }, env }).get('openai-compatible/local')
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 'test/small' })],
    models: { 'test/small': model },
  })
  afterThisTest(() => runtime.close())
  return { server, runtime }
}

test.each(
  refusals.filter(([server]) =>
    /^(?:llama\.cpp \(oobabooga|Ollama|xAI|LM Studio \(lmstudio-ai\/lmstudio-bug-tracker#546|Anthropic \(continue|a server)/.test(server),
  ),
)('a conversation outlives the window of %s (%i)', async (_, status, body) => {
  const { runtime } = await aSmallServer(6_000, { status, body })
  for (let turn = 0; turn < 6; turn++)
    expect(await (await runtime.session('main').send(`turn ${turn}: ${'some words '.repeat(120)}`)).result()).toMatchObject({ outcome: 'replied' })
})
