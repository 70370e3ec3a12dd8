/**
 * How servers report a context overflow. There is no standard, so this is a table. `words` matches the constant part of a message, in lower case; `source`
 * is a report of it.
 */
type Row = { server: string; words: RegExp; source: string }

/** Codes and types that always mean overflow, with any status. */
const codes: readonly Row[] = [
  { server: 'OpenAI, Azure, Groq, Cerebras', words: /context_length_exceeded/, source: 'chathub-dev/chathub#126' },
  { server: 'OpenAI', words: /string_above_max_length/, source: 'gptscript-ai/clio#41' },
  { server: 'Anthropic', words: /request_too_large/, source: 'platform.claude.com/docs/en/api/errors' },
  { server: 'GitHub Copilot', words: /model_max_prompt_tokens_exceeded/, source: 'microsoft/vscode#289219' },
  { server: 'llama.cpp', words: /exceed_context_size_error/, source: 'ggml-org/llama.cpp#15780' },
  { server: 'ds4', words: /"context_exceeded"/, source: 'antirez/ds4#150' },
]

const sentences: readonly Row[] = [
  { server: 'OpenAI, Azure, DeepSeek, vLLM, OpenRouter, Cloudflare', words: /maximum context length/, source: 'cloudflare/cloudflare-docs#29731' },
  { server: 'OpenAI', words: /exceeds? the context window/, source: 'can1357/oh-my-pi#3752' },
  { server: 'OpenAI', words: /input tokens exceed the configured limit/, source: 'BerriAI/litellm#18927' },
  { server: 'Anthropic, Fireworks', words: /prompt is too long/, source: 'can1357/oh-my-pi#1618' },
  { server: 'Anthropic', words: /exceed context limit/, source: 'continuedev/continue#6080' },
  { server: 'Amazon Bedrock', words: /input is too long for requested model/, source: 'anthropics/claude-code#8637' },
  { server: 'Amazon Bedrock, Cohere', words: /too many (?:input )?tokens/, source: 'openclaw/openclaw#64180' },
  { server: 'Google', words: /input token count[^.]{0,40} exceeds the maximum number of tokens/, source: 'google-gemini/gemini-cli#12098' },
  { server: 'xAI', words: /maximum prompt length is/, source: 'cline/cline#3120' },
  { server: 'Groq, Cerebras', words: /reduce the length of the (?:messages|input)/, source: 'cline/cline#5140' },
  { server: 'GitHub Copilot', words: /prompt token count of \d+ exceeds the limit/, source: 'anomalyco/opencode#2464' },
  { server: 'Moonshot', words: /exceeded model token limit|model max length exceeded/, source: 'MoonshotAI/kimi-cli#2011' },
  { server: 'DashScope', words: /range of input length should be/, source: 'QwenLM/qwen-code#98' },
  { server: 'Zhipu', words: /prompt exceeds max length/, source: 'openclaw/openclaw#133860' },
  { server: 'MiniMax', words: /context window exceeds limit/, source: 'agentscope-ai/QwenPaw#1273' },
  { server: 'llama.cpp', words: /exceeds? (?:the )?(?:available )?context size/, source: 'ggml-org/llama.cpp#17284' },
  { server: 'llama-cpp-python', words: /requested tokens \(\d+\) exceed context window/, source: 'rllm-team/rllm#55' },
  { server: 'Ollama', words: /exceeded max context length|input length exceeds the context length/, source: 'cline/kanban#505' },
  {
    server: 'LM Studio',
    words: /when context the overflows|exceeds context length \d|reached context length of \d/,
    source: 'lmstudio-ai/lmstudio-bug-tracker#546',
  },
  { server: 'LM Studio', words: /tokens to keep from the initial prompt[^.]{0,80} context length/, source: 'lmstudio-ai/lmstudio-bug-tracker#2256' },
  { server: 'vLLM', words: /longer than the maximum model length|too long to fit into the model/, source: 'vllm-project/vllm#12165' },
  { server: 'SGLang', words: /longer than the model.{1,2}s context length|exceeds the maximum allowed length/, source: 'sgl-project/sglang#4048' },
  { server: 'TGI', words: /`inputs` must have less than \d+ tokens/, source: 'huggingface/text-generation-inference#695' },
  { server: 'TGI, Together', words: /`inputs` tokens \+ `max_new_tokens` must be/, source: 'huggingface/huggingface_hub#2763' },
  { server: 'SiliconFlow', words: /must be less than max_seq_len/, source: 'langgenius/dify#19394' },
  { server: 'Mistral', words: /too large for model with \d+ maximum/, source: 'openclaw/openclaw#36074' },
  { server: 'TensorRT-LLM', words: /exceeds maximum input length/, source: 'openclaw/openclaw#58839' },
  { server: 'Cloudflare', words: /exceeded this model context window/, source: 'cloudflare/cloudflare-docs#29731' },
  { server: 'watsonx', words: /cannot exceed the total tokens limit/, source: 'cuga-project/cuga-agent#439' },
  // What has not been seen: the request, the prompt or its tokens are more than some length, window or context.
  {
    server: 'others',
    words:
      /(?:input|prompt|messages?|request|conversation|tokens?)\b[^.\n]{0,80}\b(?:exceed(?:s|ed|ing)?|longer than|too (?:long|large|many)|greater than|larger than)\b[^.\n]{0,80}\b(?:context|window|max_(?:model|seq)_len|(?:input|sequence|prompt|model) length)/,
    source: 'none: the kind',
  },
]

/** Words of a limit that time heals. */
const rate = /per (?:minute|min|day|hour|second)|\b[rt]p[md]\b|rate.?limit|slow down|please wait|throttl/
/** A setting that is too large for the model, however short the conversation is. */
const setting =
  /max_(?:completion_|output_|new_)?tokens`?'? ?(?:must be (?:less than or equal to|at least|at most)|is too large: \d+\. this model supports)|fewer max_tokens/

/** @param words of the error, in lower case @param status of the response, where it is known */
export const saysOverflow = (words: string, status: number | undefined): boolean => {
  if (status === 401 || status === 402 || status === 403) return false
  if (codes.some((row) => row.words.test(words))) return true
  // 413 says it by itself, also where the limit is one of tokens per minute: the same request would never fit.
  if (status === 429 || (status !== undefined && status > 500) || (status !== 413 && rate.test(words)) || setting.test(words)) return false
  return sentences.some((row) => (status !== 500 || row.server !== 'others') && row.words.test(words))
}
