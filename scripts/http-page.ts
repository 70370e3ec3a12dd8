/** `docs/reference/http.md`: every route and command of a node. `test/api/http/http-page.long.test.ts` sends what it shows and compares the answers. */

import { statusOf } from '../src/api/error-status.ts'
import { gatewayLimits as limits } from '../src/api/http/limits.ts'
import { familiesOf } from '../src/api/http/metrics.rules.ts'
import { scopeOf } from '../src/api/scopes.ts'
import { type CommandName, commands } from '../src/contracts/commands.ts'
import { type ErrorCode, errorCodes } from '../src/contracts/errors.ts'
import { type GatewayScope, gatewayScopes } from '../src/contracts/gateway.ts'
import { MetricsCounter } from '../src/runtime/metrics.rules.ts'
import { type Example, examples } from './http-examples.ts'

export const httpPage = (note: string): string => `# HTTP

${note}

A node, \`npx statecast up\`, listens on \`http://127.0.0.1:4111\`. The examples talk to one with the app of [the guide](../guides/app.md), without a key,
one after another; below the last line of each stands its answer:

\`\`\`sh
URL=http://127.0.0.1:4111
AUTH="authorization: Bearer $(cat .statecast/token)"
\`\`\`

| route | takes | answers |
| --- | --- | --- |
| \`GET /\` | | the web chat; no token needed, since nothing of a conversation is in it |
| \`GET /assets/*\` | | its files |
| \`GET /inspector\` | | the [inspector](../guides/inspector.md), a page for browsers; the token comes in the fragment of its address |
| \`GET /inspector/\` | | the same |
| \`GET /inspector/assets/*\` | | its files |
| \`GET /ws\`, an upgrade | frames | commands and events over one [WebSocket](socket.md) |
| \`GET /inspect/:secret\`, an upgrade | | a tree of actors for [other visualisers](../guides/inspector.md#other-visualisers), at the address that \`trace.relay\` gave |
| \`GET /healthz\` | | 200 \`{"status":"ok"}\` while the process lives; no token needed |
| \`GET /readyz\` | | 200 or 503 with the fields of \`health\`: whether it takes work; no token needed |
| \`POST /rpc/:command\` | a JSON object, at most 1 MiB (8 MiB for \`chat.send\` and \`files.put\`); an empty body is \`{}\` | 200 and JSON, see [commands](#commands) |
| \`GET /sessions/:key/events\` | \`Last-Event-ID\` | the output of a session as [server-sent events](#events) |
| \`GET /events\` | \`?sessionKey=\`, \`Last-Event-ID\` | the same, for the keys \`.\` and \`..\`, which no path can name |
| \`POST /files\` | a file as it is, with \`?name=\`, and \`sessionKey=\` where it belongs to one; or the JSON of \`files.put\` | what [\`files.put\`](#filesput) answers |
| \`GET /sessions/:key/files/:id\` | | a file of a session: raster images to show, all else to save |
| \`GET /files/:id\` | \`?sessionKey=\` | the same, for the keys \`.\` and \`..\` |
| \`GET /v1/models\` | | the agents as models, for [clients of OpenAI's API](openai.md) |
| \`GET /v1/models/:id\` | | one of them |
| \`POST /v1/chat/completions\` | \`x-statecast-session\`, \`Idempotency-Key\` | [a chat completion](openai.md), whole or as a stream |
| \`POST /v1/responses\` | \`x-statecast-session\`, \`Idempotency-Key\` | [a response](openai.md), whole or as a stream |
| \`POST /api/chat\` | what \`useChat\` of the AI SDK posts, at most 8 MiB | the answer as [a UI message stream](ui-stream.md) |
| \`GET /api/chat/:id/stream\` | | the answer that is being made, from its beginning; 204 where none is |
| \`GET /metrics\` | | [figures](#metrics) for Prometheus |

## Access

Everything but the two probes and the page of the chat wants the token as \`Authorization: Bearer …\`, never in an address. It is made at the first start and stands in the file
\`token\` of the data folder, readable by its owner only; \`STATECAST_TOKEN\` of the node is taken beside it, and is needed before \`up --host\` listens beyond this
machine. A token that could be guessed, with fewer than 16 characters, fewer than 8 different ones, or repeating or counting, is refused at the start (\`openssl rand -hex 32\` makes a good one).
A missing or wrong token is refused with 401 \`unauthorised\`. A \`Host\` that is not this node, or an \`Origin\` that is not the host of the request, is refused
with 403 \`forbidden\`: pages of other sites get nowhere. A request with a bearer token in its \`Authorization\` header may have any \`Origin\`, so a development proxy that adds
the header works. The \`Host\` is always checked.

Tokens for others are made with \`statecast token create\`, for some [scopes and sessions](../guides/tokens.md). They open \`/ws\`, \`/rpc\`, the event streams, \`/v1\` and \`/api/chat\`;
a session that a token does not reach is to it as one that is not there.

How much a client may take up is bounded (\`src/api/http/limits.ts\`):

| what | bound | beyond it |
| --- | --- | --- |
| wrong or missing tokens of one address | ${limits.wrongTokensMax} at once, then one every ${limits.wrongTokenMs / 1000} s | 429 \`rate_limited\` with \`Retry-After\` |
| event streams, and answers at \`/api/chat\` and \`/v1\`, with one token, from one address | ${limits.streamsPerTokenMax}, ${limits.streamsPerAddressMax} | 429 \`rate_limited\` with \`Retry-After\` |
| connections of one address that have not shown the right token | ${limits.strangersPerAddressMax} | the oldest of them is closed |
| connections in all | ${limits.connectionsMax} | the oldest one without the right token is closed, or the new one |
| time for the headers of a request, for all of it | ${limits.headersMs / 1000} s, ${limits.requestMs / 1000} s | 408, and the connection is closed |

The right token is let in at any time, also from an address that has used up its wrong ones: behind a proxy all clients have the same one. Guessing is not made impossible by
this, only cheap to answer; that a token cannot be guessed is what protects. Of IPv6, a whole /64 counts as one address.

## Errors

\`{"error": {"code", "message", "hint?", "retryable", "field?", "data?"}}\`, with a status that follows from the code ([all codes](errors.md)); below \`/v1\` they have [the shape of OpenAI's](openai.md#errors):

| status | codes |
| --- | --- |
${statuses()}
\`closed\` is 503 while the node shuts down (\`retryable\`), and 410 for an actor that has ended. Any command may answer \`bad_request\` (a body that is no JSON object, a
field that is missing, unknown or of the wrong type: \`field\` names it), \`too_large\`, \`unauthorised\`, \`forbidden\`, and \`log_unavailable\`.

\`\`\`sh
curl -s -H "$AUTH" "$URL/rpc/chat.send" -d '{"sessionKey":"main","text":"hi"}'
\`\`\`
\`\`\`json
{"error":{"code":"bad_request","message":"message is missing; unknown field 'text'","hint":"see docs/reference/messages.md","retryable":false,"field":"message"}}
\`\`\`

While it drains after SIGTERM, a node refuses what begins work (\`chat.send\`, \`actors.send\`, \`sessions.reset\`, \`.compact\`, \`.delete\`) with 503 \`closed\`, and answers
about the work that it has.

## Events

\`\`\`sh
curl -N -H "$AUTH" "$URL/sessions/main/events"
curl -N -H "$AUTH" -H 'Last-Event-ID: 1.0' "$URL/sessions/main/events"
\`\`\`

The first line comes when nothing that happens from then on is missed. Each event has its type as \`event\` and JSON as \`data\`:

\`\`\`
: listening

event: accepted
data: {"type":"accepted","id":"k1","status":"started","runId":"k1","path":"/","seq":1,"part":0,"birth":"1k9x2ab"}
id: 1.0.1k9x2ab

event: delta
data: {"type":"delta","runId":"k1","answerId":"k1:2","attempt":1,"index":0,"kind":"text","text":"refund: ","path":"/turn#1/loop#1/model#2"}
\`\`\`

- Durable events, those that stand in the journal, have an \`id\`, their place there as \`seq.part.birth\`. \`birth\` names the life of the conversation: one that is deleted and begun anew counts from 1 again, under another name. Live events, such as \`delta\` and a tool's
  progress, have no id and are not repeated.
- **Resume**: with \`Last-Event-ID\` (an \`EventSource\` sends it by itself) the durable events after that place come first, each once and in order, then those of now.
  What is no place is refused with 400 \`bad_request\`. A \`final\`, \`error\` or \`aborted\` holds the whole text: deltas are for watching.
- \`event: restart\` says that a reader's place is in no journal any more: the conversation was deleted, begun anew, or restored from a backup. Forget what you have of it:
  what follows is all of it, from the beginning. It comes where a \`Last-Event-ID\` is ahead of the journal or of another life, and in a stream that was open meanwhile.
- \`event: gap\` ends the stream of a reader that is too slow: connect again with the last id. A comment every 15 seconds keeps connections open.
- A session that does not exist yet can be listened to; nothing is made by it.

## Metrics

\`GET /metrics\` answers in the text format 0.0.4 of Prometheus. Counters begin at 0 with the process and count what this node did; a scraper sends the token:

\`\`\`yaml
scrape_configs:
  - job_name: statecast
    authorization: { credentials_file: /var/lib/statecast/token }
    static_configs: [{ targets: ['127.0.0.1:4111'] }]
\`\`\`

| name | type | labels | means |
| --- | --- | --- | --- |
${figures()}
## Commands

\`POST /rpc/<command>\`; the fields are described in [messages](messages.md#commands), **needed** ones are bold here. Which scope a [token](../guides/tokens.md) needs is said of each;
the token of the node has all.

| scope | commands |
| --- | --- |
${gatewayScopes.map(scopeRow).join('\n')}

${Object.entries(examples).map(section).join('\n')}`

const scopeRow = (scope: GatewayScope): string => {
  const names = Object.keys(commands).filter((name) => scopeOf(name as CommandName) === scope)
  return `| \`${scope}\` | ${names.map((name) => `\`${name}\``).join(', ')} |`
}

const section = ([name, { first = [], input, answer, about, errors = [] }]: [string, Example]): string => {
  const schema = commands[name as CommandName]
  const fields = Object.entries(schema.shape).map(([field, type]) => (type.safeParse(undefined).success ? `\`${field}\`` : `**\`${field}\`**`))
  const facts = [
    fields.length > 0 ? `Takes ${fields.join(', ')}.` : 'Takes nothing.',
    `Needs the scope \`${scopeOf(name as CommandName)}\`.`,
    ...(about ? [about] : []),
  ]
  return `### \`${name}\`

${sentence(schema.description ?? '')} ${facts.join(' ')}${errors.length > 0 ? ` Refuses with ${errors.map((code) => `\`${code}\``).join(', ')}.` : ''}

\`\`\`sh
${first
  .map((one) => (one === 'sleep 1' ? one : curl(one.command, one.input)))
  .map((line) => `${line}\n`)
  .join('')}${curl(name, input)}
\`\`\`
\`\`\`json
${json(answer)}
\`\`\`
`
}

const curl = (command: string, input: object): string => `curl -s -H "$AUTH" "$URL/rpc/${command}" -d '${JSON.stringify(input)}'`

const sentence = (text: string): string => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`

const widthMax = 150
/** On one line where it fits, else a part a line. */
const json = (value: unknown, indent = ''): string => {
  const short = JSON.stringify(value)
  if (indent.length + short.length <= widthMax || typeof value !== 'object' || value === null) return short
  const deeper = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map((item) => json(item, deeper))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${json(item, deeper)}`)
  return `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`
}

function figures(): string {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  return familiesOf({
    version: '',
    health: { ready: true, writable: true, liveActors: 0, freeBytes: 0, transport: '', durability: '' },
    metrics: { ...new MetricsCounter().metrics, model_tokens_total: { model: tokens } },
    traffic: { requests: [{ labels: { method: '', route: '', status: '' }, value: 0 }], streams: 0, connections: 0, sockets: 0 },
  })
    .map(({ name, type, help, samples: [sample] }) => {
      const labels = Object.keys(sample?.labels ?? {}).map((label) => `\`${label}\``)
      return `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |\n`
    })
    .join('')
}

function statuses(): string {
  const byStatus = Map.groupBy(Object.keys(errorCodes) as ErrorCode[], (code) => statusOf({ code, message: '', retryable: false }))
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => `| ${status} | ${codes.map((code) => `\`${code}\``).join(', ')} |\n`)
    .join('')
}
