/** How long servers ask to wait, in the headers, fields and words in which they said it. Each row is what was seen at the source that it names. */
import { expect, test } from 'vitest'
import { classify } from '../../src/models/classify.ts'

const now = Date.parse('2026-11-01T00:00:00Z')
const refused = (status: number, headers: Record<string, string>, body: unknown): unknown =>
  classify(
    Object.assign(new Error('refused'), {
      statusCode: status,
      responseHeaders: headers,
      responseBody: typeof body === 'string' ? body : JSON.stringify(body),
    }),
    { now },
  ).data?.retryAfterMs

const gemini = (details: object[], message = 'You exceeded your current quota.') => ({
  error: { code: 429, message, status: 'RESOURCE_EXHAUSTED', details },
})
const retryInfo = (retryDelay: unknown) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })
const said = (message: string) => ({ error: { message, type: 'tokens', code: 'rate_limit_exceeded' } })

const cases: [source: string, headers: Record<string, string>, body: unknown, ms: number | undefined][] = [
  ['googleapis/python-genai#1875', {}, gemini([retryInfo('53s')], 'You exceeded … Please retry in 53.016342224s.'), 53_000],
  ['dcdpr/jp#1061', {}, gemini([retryInfo('45.837906927s')]), 45_838],
  ['AtomicBot-ai/atomic-agent#106', {}, { error: { code: 429, details: [retryInfo('39s')] } }, 39_000],
  ['the same in a list, as the OpenAI door of Gemini sends it', {}, [{ error: { code: 429, details: [retryInfo('39s')] } }], 39_000],
  ['datalab-to/marker#1041', {}, { details: [retryInfo('12s')] }, 12_000],
  ['langchain-ai/langchain-google#946', {}, { error: { details: [{ retry_delay: { seconds: 42, nanos: 500_000_000 } }] } }, 42_500],
  ['router-for-me/CLIProxyAPI#449', {}, gemini([{ reason: 'RATE_LIMIT_EXCEEDED', metadata: { quotaResetDelay: '373.801628ms' } }]), 374],
  ['router-for-me/CLIProxyAPI#449, in words', {}, gemini([], 'You have exhausted your capacity. Your quota will reset after 3h12m4s.'), 3_600_000],
  ['NikkeTryHard/zerogravity#19', {}, gemini([{ metadata: { quotaResetDelay: '9s' } }, retryInfo('2.463586755s')]), 2464],
  ['Aider-AI/aider#3265', {}, said('Rate limit reached … Limit 15000, Used 11972, Requested 4351. Please try again in 5.289s. Visit …'), 5289],
  ['zed-industries/zed#31531', {}, said('Rate limit reached for gpt4.1 … Please try again in 11.75s.'), 11_750],
  ['the same with minutes', {}, said('Please try again in 1m30.5s.'), 90_500],
  ['the same below a second', {}, said('Please try again in 420ms.'), 420],
  ['openai/openai-node#1108', {}, said('… exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 33 seconds.'), 33_000],
  ['microsoft/action-python#12', {}, said('Please retry after 1 second. Please go here: https://aka.ms/oai/quotaincrease'), 1000],
  ['zulip/zulip#4831', {}, { msg: 'API usage exceeded rate limit, try again in 15.314237833 secs', result: 'error' }, 15_314],
  ['openai/codex#2695', {}, { error: { type: 'usage_limit_reached', resets_in_seconds: 756 } }, 756_000],
  ['zed-industries/zed#31531, in headers', { 'x-ratelimit-reset-tokens': '1m30s', 'x-ratelimit-reset-requests': '1s' }, {}, 90_000],
  ['vectorize-io/hindsight#3508', { 'x-ratelimit-reset-requests': '6m0s', 'x-ratelimit-reset-tokens': '12ms' }, {}, 360_000],
  [
    'a budget of which something is left',
    {
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-requests': '900',
      'x-ratelimit-reset-tokens': '7.66s',
      'x-ratelimit-remaining-tokens': '0',
    },
    {},
    7660,
  ],
  ['openai/openai-python#937', { 'x-rate-limit-reset-tokens': '55' }, {}, 55_000],
  ['openai/openai-dotnet#838', { 'x-ratelimit-remaining-tokens': '-1', 'x-ratelimit-reset-tokens': '0' }, {}, undefined],
  [
    'OpenRouter',
    {},
    { error: { code: 429, metadata: { headers: { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(now + 90_000) } } } },
    90_000,
  ],
  ['a header before the body', { 'Retry-After': '7' }, gemini([retryInfo('53s')]), 7000],
  ['a moment of seconds', { 'retry-after': String(now / 1000 + 30) }, {}, 30_000],
  ['a moment in a field', {}, { error: { retryAfter: '2026-11-01T00:00:20Z' } }, 20_000],
  ['a duration in the header', { 'retry-after': '1m' }, {}, 60_000],
  ['no word of it', {}, said('slow down'), undefined],
  ['a date in words', {}, said('try again after 2026-11-02'), undefined],
  ['no number', { 'retry-after': 'NaN', 'x-ratelimit-reset-tokens': 'soon' }, { retryDelay: null, retry_after: {} }, undefined],
]

test.each(cases)('%s', (_, headers, body, ms) => {
  expect(refused(429, headers, body)).toBe(ms)
})

test('the budgets that come with every answer say nothing of another refusal', () => {
  expect(refused(400, { 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '0' }, {})).toBeUndefined()
})

test.each([
  ['fields without an end', `${'{"error":'.repeat(5_000)}{"retryDelay":"3s"}${'}'.repeat(5_000)}`],
  ['fields without number', JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`f${at}`, { a: [] }])))],
  ['words again and again', 'try again in '.repeat(100_000)],
  ['digits without an end', `try again in ${'9'.repeat(200_000)}`],
])('%s cost no time', (_, body) => {
  const started = process.cpuUsage()
  refused(429, { 'retry-after': '9'.repeat(50_000) }, body)
  refused(429, {}, body)
  const { user } = process.cpuUsage(started)
  expect(user).toBeLessThan(2_000_000)
})
