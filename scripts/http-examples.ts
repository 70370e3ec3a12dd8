/** A request and its answer for every command: what the page shows and its test sends. */
import type { CommandName } from '../src/contracts/commands.ts'
import type { ErrorCode } from '../src/contracts/errors.ts'

type Call = { command: CommandName; input: object }

export type Example = {
  /** What is sent before it, where it does not follow from the examples before; `sleep 1` lets something happen. */
  first?: (Call | 'sleep 1')[]
  input: object
  answer: unknown
  /** What the schema does not say. */
  about?: string
  /** Refusals beside those that every command has. */
  errors?: ErrorCode[]
}

const usage = { inputTokens: 20, outputTokens: 7, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 }
const outcome = {
  status: 'completed',
  outcome: 'replied',
  tokens: 27,
  durationMs: 130,
  endedAt: 1795240143999,
  cache: 'new',
  ids: ['k1'],
  partial: false,
  answerId: 'k1:2',
  usage,
  steps: 2,
  toolCalls: 1,
  model: 'scripted/offline',
}
const approval = {
  callId: 'main/k2:1:1',
  runId: 'k2',
  name: 'refund',
  input: { amount: 500 },
  inputHash: '0780491803d7a0848aa262e346d8b1a3d7cfa31fe7655948de034ec7c10f84d0',
  attempt: 1,
  why: 'approval',
}

/** The first commit of order/o-3, as another folder has it. */
const tokenEntry = {
  id: '…',
  name: 'page',
  scopes: ['read', 'write'],
  createdAt: 1795240143999,
  sessions: ['agent:main:web:*'],
  expiresAt: 1797832143999,
}
const anOrder =
  '3gAMoXYBp2FkZHJlc3Opb3JkZXIvby0zo3NlcQGlZXBvY2gBpndyaXRlcr5ob3N0LTFtN3owZmozazBoMTA1Mm5mZTl2a241bXqiYXTLQnof4HyHwACkcHJldgCmY3JlYXRl3gADp21hY2hpbmWpKG1hY2hpbmUpqXNpZ25hdHVyZbA1YWYzNGU5NjdjZDg0MWI1pWlucHV03gABpGl0ZW2jdGVhpWNsYWltw6ZpbnB1dHOR3gAConRvoS+lZXZlbnTeAAGkdHlwZaVwbGFjZaZzdGF0ZXPeAAGhL6ZwbGFjZWSmZGlnZXN0zi0Bigo='

/** In an order in which they follow from each other, on a node with the app of docs/guides/app.md. */
export const examples: Record<CommandName, Example> = {
  'chat.send': {
    input: { sessionKey: 'main', message: 'refund {"amount":7}', idempotencyKey: 'k1' },
    answer: { id: 'k1', runId: 'k1', status: 'started', seq: 1 },
    about:
      'Answers when the message is stored, not when it is answered. `status` is `started`, `steered` (joins the turn that runs, `runId`), `queued`, `collected`, `answered` (by the session itself), `side` (a question after `/btw`, answered [beside the conversation](../guides/sessions.md#beside-the-conversation)), or why nothing is done about it (`unmentioned`, `unauthorised`); `seq` is its place in the journal. An idempotency key that was used before is answered with `duplicate: true` and the `seq` of the first, and nothing is said again: `status` is `in_flight` while the run goes on, then `ok` or `error` (`side` for a side question) with its `outcome`. The text is kept as composed Unicode without control characters; one with a NUL is refused.',
    errors: ['not_found', 'overloaded', 'quarantined', 'provider_unknown_model', 'provider_auth', 'log_full', 'closed'],
  },
  'files.put': {
    input: { content: 'aGVsbG8K', fileName: 'hello.txt', mimeType: 'text/plain', sessionKey: 'main' },
    answer: { id: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03', mimeType: 'text/plain', bytes: 6, fileName: 'hello.txt' },
    about:
      'The kind is read from the content; `warnings` say where it is another one than `mimeType`. `POST /files` takes the bytes themselves. [What becomes of files](../guides/files.md).',
    errors: ['too_large', 'overloaded', 'log_full', 'closed'],
  },
  'files.list': {
    input: { sessionKey: 'main' },
    answer: {
      files: [{ id: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03', mimeType: 'text/plain', bytes: 6, fileName: 'hello.txt' }],
    },
  },
  'files.get': {
    input: { sessionKey: 'main', id: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03' },
    answer: {
      id: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
      mimeType: 'text/plain',
      bytes: 6,
      fileName: 'hello.txt',
      content: 'aGVsbG8K',
    },
    errors: ['not_found'],
  },
  'agent.wait': {
    input: { sessionKey: 'main', runId: 'k1', timeoutMs: 60_000 },
    answer: { runId: 'k1', ...outcome, text: 'refund: refunded 7', transcriptLength: 4, seq: 6 },
    about:
      '`runId` is that of a run or of any message. `outcome` is `replied`, `silent`, `reset`, `failed` or `aborted`; where users get something else than `text`, `reply` says what. `seq` is the commit that holds the outcome. `status` is `completed`, `failed` (then with `error`) or `cancelled`: a turn that failed is an answer with status 200 too. Default of `timeoutMs`: 600000.',
    errors: ['not_found', 'timeout', 'quarantined'],
  },
  'chat.history': {
    input: { sessionKey: 'main', limit: 3 },
    answer: {
      sessionKey: 'main',
      sessionId: '5b0e2c4e-8d5b-8f0e-9a44-3c1a62f7d9b1',
      thinkingLevel: 'off',
      verboseLevel: 'off',
      messages: [
        {
          role: 'assistant',
          id: 'k1:1',
          text: '',
          calls: [{ callId: 'call-983d80c1-0-1', name: 'refund', input: { amount: 7 } }],
          at: 1790000000000,
        },
        { role: 'tool', callId: 'call-983d80c1-0-1', name: 'refund', output: 'refunded 7', isError: false },
        { role: 'assistant', id: 'k1:2', text: 'refund: refunded 7', calls: [], at: 1790000001000 },
      ],
      more: true,
      waiting: [],
    },
    about:
      'The newest `limit` messages since the last reset (default 200, at most 1,000), at most 6 MiB, as people see them; what is stored stays whole. `more`: older ones stand before them, to be had with `before: <id of the first>`. A part of a message longer than `maxChars` (default 12,000) is cut, and `cut` says how long each part was; `chat.message` and `chat.output` give all of it. `thinkingLevel` and `verboseLevel` are those in force. `role` is `user`, `assistant`, `tool` or `summary`. What a command has answered stands where it was said, as an `assistant` with `injected`, which no model reads. `waiting` are those that were accepted and are not part of it yet. `at` is when it was said. With `details`, `runs` says of each run that is in it how it ended: `status`, `model`, `usage`, `costUsd`, `durationMs`, `error`.',
    errors: ['not_found', 'corrupt_at'],
  },
  'chat.message': {
    input: { sessionKey: 'main', messageId: 'k1:2' },
    answer: {
      sessionKey: 'main',
      messageId: 'k1:2',
      role: 'assistant',
      text: 'refund: refunded 7',
      offset: 0,
      characters: 18,
      next: null,
    },
    about:
      'One message as it is stored, in pieces of `limit` characters (UTF-16 units, default 100,000): `next` is the `offset` of the next one. `part` is `text`, `reasoning` or `calls`, which are JSON.',
    errors: ['not_found', 'corrupt_at'],
  },
  'tools.result': {
    input: { sessionKey: 'main', results: [{ callId: 'main/k1:1:1', output: 'no such call' }] },
    answer: {
      error: {
        code: 'conflict',
        message: 'no call waits for these results',
        retryable: false,
        hint: 'give the results of the pendingCalls of the newest run, before anything else is said',
      },
    },
    about:
      'For the `pendingCalls` with which a run has ended: the calls of tools that a client brought with `clientTools` of its message. Answers like `chat.send`.',
    errors: ['conflict', 'not_found'],
  },
  'chat.output': {
    input: { sessionKey: 'main', callId: 'main/k1:1:1', limit: 6 },
    answer: { callId: 'main/k1:1:1', text: 'refund', offset: 0, total: 10, next: 6 },
    about:
      'All that a tool has answered, in characters from `offset` on; `next` where there are more. `callId` is that of `session.tool`, or the ref that a shortened result names; also of calls that were compacted away.',
    errors: ['not_found'],
  },
  'chat.abort': {
    first: [{ command: 'chat.send', input: { sessionKey: 'main', message: 'tell me a long story', idempotencyKey: 'k3' } }, 'sleep 1'],
    input: { sessionKey: 'main' },
    answer: { aborted: true, runIds: ['k3'], seq: 6 },
    about: 'Without `runId` also what waits for its turn is dropped, and side questions end. Where nothing runs, `aborted` is false.',
    errors: ['not_found'],
  },
  'chat.inject': {
    first: [{ command: 'agent.wait', input: { sessionKey: 'main', runId: 'k3' } }],
    input: { sessionKey: 'main', message: 'The backup of last night is complete.', label: 'backup', idempotencyKey: 'b1' },
    answer: { runId: 'inject-b1', messageId: 'inject-b1:1', seq: 8, status: 'added' },
    about:
      'Puts a message of the assistant into the conversation: no run, no model call, no usage. Whoever watches gets it as a `chat` event `final` with `injected`. While a turn runs, or its client owes results of tools, it is `waiting`, and joins when the turn has ended; a reset before that forgets it. `label` (100 characters) is for people, the model reads the message alone.',
    errors: ['not_found', 'overloaded'],
  },
  'approvals.list': {
    first: [
      { command: 'agent.wait', input: { sessionKey: 'main', runId: 'k3' } },
      { command: 'chat.send', input: { sessionKey: 'main', message: 'refund {"amount":500}', idempotencyKey: 'k2' } },
      'sleep 1',
    ],
    input: { sessionKey: 'main' },
    answer: { approvals: [{ sessionKey: 'main', ...approval, at: 1795240143875 }], runs: [], unreadable: [] },
    about:
      'Without `sessionKey` those of all sessions, the oldest first; `unreadable` names sessions with unfinished work that cannot be read, see `statecast doctor`. `at` is when the person was asked, `deadline` when silence decides; without it the call waits for a person. `runs` are calls in runs of the ladder, by `actor`. `why` is `approval`, or `in_doubt` where a crash left it open whether the call ran.',
    errors: ['not_found', 'drift', 'corrupt_at'],
  },
  'approvals.resolve': {
    input: {
      sessionKey: 'main',
      callId: approval.callId,
      inputHash: approval.inputHash,
      attempt: 1,
      decision: 'deny',
      by: 'Ada',
      note: 'too much',
    },
    answer: { seq: 10 },
    about: 'All of it as `approvals.list` says it: the decision is about these arguments and this attempt. The first one counts.',
    errors: ['not_found', 'already_decided', 'conflict'],
  },
  'sessions.list': {
    first: [{ command: 'agent.wait', input: { sessionKey: 'main', runId: 'k2' } }],
    input: { limit: 100 },
    answer: { sessions: [{ key: 'main', state: 'awaiting-input', seq: 11, at: 1795240143855, busy: false, waiting: 0 }] },
    about:
      '`busy` when it has work to do, `waiting` is how many tool calls wait for a person. `state` may also be `quarantined`, `corrupt`, or null where it lies far back. `origin` of a fork says of which conversation it shares the first commits.',
  },
  'sessions.context': {
    input: { sessionKey: 'main' },
    answer: {
      sessionKey: 'main',
      prompt: {
        at: 1795240140000,
        model: 'scripted/offline',
        chars: 412,
        tokens: 103,
        sections: [{ name: 'instructions', chars: 40, tokens: 10 }],
        files: [{ path: 'AGENTS.md', raw: 0, injected: 0, truncated: false, missing: true }],
        skills: [],
        tools: [{ name: 'refund', schema: 190, properties: 1, chars: 290, tokens: 73 }],
        hashes: { model: 'scripted/offline', tools: 'a-vm7p…', instructions: '9-1vnu…' },
      },
      history: [
        { role: 'summary', count: 0, chars: 0, tokens: 0 },
        { role: 'user', count: 3, chars: 120, tokens: 30 },
      ],
      chars: 532,
      tokens: 133,
    },
    about:
      '`prompt` is what stood before the conversation when the model was asked last, in characters and in tokens of about four: its `sections` in their order, `files` of the workspace (`injected` characters of `raw`; `missing` or `repeated` ones have none), `skills`, and `tools` with what their parameters take of it. `hashes` stand for what each part says. `history` is what was said since.',
    errors: ['not_found', 'corrupt_at'],
  },
  'sessions.get': {
    input: { sessionKey: 'main' },
    answer: {
      key: 'main',
      state: 'awaiting-input',
      run: null,
      queued: [],
      approvals: [],
      messages: 10,
      record: {},
      cache: { read: 0, write: 0, input: 60, output: 21, hitRatio: 0 },
      seq: 11,
      epoch: 1,
    },
    about:
      "While a turn runs `run` is `{ runId, ids, model }`; `asides` are side questions that are being answered. `record` is what the session keeps of itself: `sessionId`, times, settings of its users (`toggles`), what it has used (`tokens`, `spent`). `cache` counts tokens since the conversation began, each of one kind; `hitRatio` is the share of what was read that came from the provider's cache. `quarantine` is there when the session was set aside, with the error.",
    errors: ['not_found', 'drift', 'corrupt_at'],
  },
  'sessions.compact': { input: { sessionKey: 'main' }, answer: { seq: 12 }, errors: ['not_found', 'session_busy'] },
  'sessions.reset': { first: ['sleep 1'], input: { sessionKey: 'main', reason: 'a new topic' }, answer: { seq: 14 }, errors: ['not_found'] },
  'sessions.configure': {
    input: { sessionKey: 'main', toggles: { verbose: 'on', usage: 'tokens' } },
    answer: { seq: 15 },
    about: 'What a user changes by `/verbose on` and the like; null takes a wish back.',
    errors: ['not_found', 'bad_request'],
  },
  'sessions.resolve': {
    input: { origin: { channel: 'sms', to: '+49123', sender: '+49123' } },
    answer: { sessionKey: 'main', agent: 'main' },
    about:
      'Keys have one spelling: `main:web:default`, `agent:main:main` and `main` are one conversation of the agent `main`. Whose a message of a channel is, `session.scope` says.',
    errors: ['bad_request', 'not_found'],
  },
  'sessions.patch': {
    input: { sessionKey: 'main', model: 'scripted/offline', thinking: null },
    answer: { seq: 16, model: 'scripted/offline' },
    about: 'From the next run on, in this session only; null clears. A model without a provider is looked for at the default one, with `warnings`.',
    errors: ['not_found', 'bad_request', 'forbidden', 'provider_unknown_model', 'provider_auth'],
  },
  'sessions.clear': {
    input: { sessionKeys: ['main'] },
    answer: { followups: 0, dropped: 0, lane: 0 },
    about: 'How many messages waited, and how many had been dropped for them. A session that does not exist has none.',
    errors: [],
  },
  'events.read': {
    input: { id: 'main', limit: 1 },
    answer: {
      events: [{ type: 'accepted', id: 'k1', status: 'started', runId: 'k1', path: '/', seq: 1, part: 0, birth: '1k9x2ab' }],
      next: '1.0.…',
      more: true,
    },
    about:
      'What [the event stream](#events) gives from `Last-Event-ID` on, in one answer: each durable event once and in order. `after` is the place of the last event that was seen, `12.3` of its `seq` and `part`, or the `next` of the answer before; `more` says that there is something behind `next` already. Over NATS an event that fits into no message comes without its long fields and with `tooLarge: true`.',
    errors: ['not_found', 'bad_request', 'drift', 'corrupt_at'],
  },
  'trace.read': {
    input: { kind: 'session', id: 'main', from: 1, limit: 1 },
    answer: {
      entries: [
        { seq: 1, at: 1795240143805, epoch: 1, actor: '/', event: 'created' },
        {
          seq: 1,
          at: 1795240143805,
          epoch: 1,
          actor: '/',
          event: 'message',
          detail: { type: 'message', text: 'refund {"amount":7}', id: 'k1', at: 1795240143805, profile: {} },
          states: {},
        },
      ],
      next: 2,
      seq: 14,
    },
    about:
      'Whole commits until there are `limit` entries, or as many bytes as an answer holds; `next` is the `from` of the next page, null at the end. Where a commit is damaged the entries before it are given, with `damage: { seq, error }`. `detail.profile` and `states` are left out here.',
    errors: ['not_found', 'corrupt_at'],
  },
  'trace.frames': {
    input: { id: 'main', from: 1, limit: 1 },
    answer: { frames: [{ seq: 1, bytes: '3gANoXYBp2FkZHJlc3Osc2Vzc2lvbi9tYWlu…' }], next: 2, head: { seq: 5, at: 1795240144115, wakeAt: null } },
    errors: ['not_found', 'corrupt_at'],
  },
  'trace.spans': {
    input: { sessionKey: 'main', runId: 'k1' },
    answer: {
      runs: [
        {
          sessionKey: 'main',
          runId: 'k1',
          ended: true,
          stages: [{ name: 'validate', start: 1795240140000.1, end: 1795240140000.2, outcome: 'ok' }],
          steps: [{ name: 'prompt', start: 1795240140001.6, end: 1795240140001.7, outcome: 'ok' }],
          latency: {
            parts: [{ name: 'connect', ms: 0, share: 0 }],
            totalMs: 512.1,
            firstTextMs: 412.4,
          },
          overhead: { connect: 0, auth: 0, acknowledgement: 1.1, session: 0.8, model: 0.2, prompt: 0.1, skills: 0, total: 3.2 },
          spans: [],
        },
      ],
    },
    about:
      'Lists are shortened here. Times are ms since the epoch, durations ms. The `stages` of a run are validate, dispatch, directives, session, media, links, model and run, its `steps` prompt, skills, tools, call, stream and loop; what was not done is `skipped`. `latency.parts` follow each other and add up: connect (of the first message of a connection), acknowledgement, startup, firstToken, streaming. Observed by the node that is asked, and not kept when it ends.',
    errors: ['not_found'],
  },
  'trace.replay': {
    input: { id: 'main' },
    answer: { verdict: 'identical', commits: 14, inputs: 24, states: { '/': 'awaiting-input' }, context: {} },
    about: 'When `verdict` is `different`, `difference` is `{ seq, path, recorded, replayed }`. `context` is left out here.',
    errors: ['not_found', 'drift', 'corrupt_at'],
  },
  'machines.get': {
    input: { kind: 'session' },
    answer: { root: 'cbaf69a7d0d21418', charts: {} },
    about:
      '`root` is the signature of the kind itself; `charts` has each machine as `statecast machines --json` prints it, by its signature. They are left out here.',
    errors: ['not_found'],
  },
  'trace.moment': {
    input: { id: 'main', seq: 2 },
    answer: {
      address: 'session/main',
      seq: 2,
      at: 1795240144115,
      epoch: 1,
      actors: [],
      timers: [],
      possible: {},
    },
    about:
      'Each of `actors` is `{ path, parent, id, src, kind, machine, status, value, active, tags, context, input, output, error }`; `possible` has the transitions of its active states as `{ source, eventType, index }`. They are left out here.',
    errors: ['not_found', 'drift', 'corrupt_at'],
  },
  'trace.steps': {
    input: { id: 'main', seq: 2 },
    answer: { seq: 2, at: 1795240144115, steps: [] },
    about:
      'A step is an `actor` that began, an `event` that was delivered, a `microstep` in which a machine decided (what was `taken`, and `candidates` with the verdicts of their guards), or a `snapshot` of an actor that came to rest. They are left out here.',
    errors: ['not_found', 'drift', 'corrupt_at'],
  },
  'trace.relay': {
    input: { id: 'main', expiresInMs: 600_000 },
    answer: { kind: 'session', id: 'main', path: '/inspect/…', expiresAt: 1795240744115 },
    about:
      'Open `ws://127.0.0.1:4111` with `path` behind it: see [other visualisers](../guides/inspector.md#other-visualisers). Who has the path needs no token, so keep it as you keep one; it shows this tree and nothing else, until `expiresAt`, or until the token that asked for it is revoked, or the node ends.',
    errors: ['not_found', 'overloaded'],
  },
  'trace.coverage': {
    input: { kind: 'order', ids: ['o-17'] },
    answer: { kind: 'order', sessions: 1, unreadable: [], machines: [], next: null },
    about:
      'Each of `machines` is `{ machine: { id, signature }, sessions, states: [{ id, visits, sessions }], transitions: [{ ref, taken, sessions }] }`, the rare ones first, with the first five addresses; they are left out here. `unreadable` has `{ session, error }` of those that cannot be folded. Where `next` is not null there is more than one answer takes on, 20,000 commits or `limit` actors: ask again with it as `after`, and add up.',
    errors: ['not_found'],
  },
  'actors.send': {
    input: { kind: 'order', id: 'o-17', event: { type: 'place' }, input: { item: 'lamp' }, messageId: 'p1' },
    answer: { seq: 1, at: 1795240144115, duplicate: false },
    about: 'Answers when the event is stored and applied. To a session it sends what [messages](messages.md) lists.',
    errors: ['not_found', 'closed', 'quarantined', 'overloaded', 'drift', 'log_full'],
  },
  'actors.get': {
    input: { kind: 'order', id: 'o-17' },
    answer: { status: 'done', value: 'placed', context: { item: 'lamp' }, tags: [], children: {}, seq: 1, epoch: 1 },
    about: 'Wakes it. `output` is there when it has ended, `error` when it failed; `children` are the actors below it.',
    errors: ['not_found', 'quarantined', 'drift', 'corrupt_at'],
  },
  'actors.revive': {
    input: { kind: 'order', id: 'o-17' },
    answer: { revived: false },
    about: '`revived` is false for one that was not set aside, and then nothing is done. Sessions are of the kind `session`.',
    errors: ['not_found', 'drift', 'corrupt_at', 'closed'],
  },
  'actors.list': {
    input: { kind: 'order', limit: 50 },
    answer: {
      actors: [{ kind: 'order', id: 'o-17', status: 'done', states: { '/': 'placed' }, seq: 1, at: 1795240144115, wakeAt: null, waiting: 0 }],
      next: null,
    },
    about:
      '`states` also holds whoever lives below, by path. `wakeAt` is when it goes on by itself: 0 at once, ms since the epoch, or null. One that cannot be woken has `status` null and an `error`; one that was set aside has `quarantine`. `origin` of a fork says of which actor it shares the first commits. `next` is the `after` of the next page.',
  },
  'models.list': {
    input: {},
    answer: { default: 'scripted/offline', models: [{ ref: 'scripted/offline', available: true }], aliases: {} },
    about: 'One that cannot be used says `why`. Where only some may be chosen, each says whether it is `allowed`.',
  },
  'config.get': {
    input: { key: 'session.historyMax' },
    answer: { key: 'session.historyMax', value: 200, source: 'default', hash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' },
    about:
      'Without a `key`: `{ config, hash, sources }`, and with `schema: true` the JSON Schema too. `source` is `config` (set here), `app` or `default`. See [configuration](configuration.md).',
    errors: ['bad_request'],
  },
  'config.set': {
    input: {
      key: 'session.historyMax',
      value: 100,
      baseHash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    },
    answer: { hash: 'd6d386d42cda154c9b559e71cbf73b8b9f1b2d21f5b96ad9f9e964bd554ad775', key: 'session.historyMax', value: 100 },
    about:
      'Or `{ raw, baseHash }` for all of it. Refused with `conflict` where `baseHash` is missing, or not that of what is stored now: reload and retry. Models that this node cannot use as things are (a key is missing) are set all the same, and named in `warnings`.',
    errors: ['bad_request', 'conflict'],
  },
  'tokens.create': {
    input: { name: 'page', scopes: ['write'], sessions: ['agent:main:web:*'], expiresInMs: 2_592_000_000 },
    answer: { token: 'sct_…', ...tokenEntry },
    about: 'The token is shown this once: only its hash is kept.',
    errors: ['conflict', 'bad_request'],
  },
  'tokens.list': {
    input: {},
    answer: {
      tokens: [tokenEntry],
    },
  },
  'tokens.revoke': {
    input: { id: 'page' },
    answer: { revoked: '…', name: 'page' },
    about: 'From now on, on all nodes. Its sockets are closed.',
    errors: ['not_found'],
  },
  'tools.list': {
    input: {},
    answer: {
      agents: [
        {
          agent: 'main',
          tools: [
            {
              name: 'refund',
              description: 'pays money back',
              inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
              source: 'app',
              category: 'plugin',
              onCrash: 'once',
              approval: 'by input',
            },
          ],
          removed: [],
        },
      ],
    },
  },
  'skills.list': {
    input: {},
    answer: { version: null, builtAt: 1795240143000, builds: 2, skills: [], problems: [] },
    about:
      'A skill has `name`, `description`, `kind` (`workspace`, `managed`, `bundled`, `extra`, or `mcp` and `lsp` for tools that come from there, with `parameters`), `source`, `path`, `eligible` or `why` not, and the `command` with which users call it. `problems` are folders that were skipped, each with what to mend. `version` changes when something of that does; with `sessionKey`, `inUse` is the one with which its run began, `filter` which skills it may use. See [skills](../guides/skills.md).',
  },
  'environments.list': {
    input: {},
    answer: { environments: [] },
    about:
      'Each has `name`, `extension`, `agents`, `state` (`inactive`, `activating`, `active`, `failed`), `path`, `error`, and `details` as its extension tells them.',
  },
  'agents.list': { input: {}, answer: { agents: [{ name: 'main', model: 'scripted/offline', tools: ['refund'], default: true }] } },
  'trace.fork': {
    input: { id: 'main', at: 2, as: 'main-f1' },
    answer: {
      kind: 'session',
      id: 'main-f1',
      origin: {
        address: { kind: 'session', id: 'main' },
        at: 2,
        answers: 'recorded',
      },
    },
    about:
      'Both share their first commits, none of which is copied: it takes no longer where there are many, and neither notices when the other one is deleted. `change: { seq, input, event }` is what if: the fork begins right before that commit, and `event`, such as `{ "decision": "deny" }`, is laid over what was recorded there as a JSON merge patch; the result of a model or a tool is changed in its `data`. With `answers: "live"` models and tools are asked anew; else they answer as recorded wherever they are given the same.',
    errors: ['not_found', 'conflict', 'drift', 'corrupt_at', 'log_full'],
  },
  'trace.export': {
    input: { kind: 'order', id: 'o-17' },
    answer: { commits: 1, file: '{"statecast":"journal","version":1,"address":"order/…' },
    about:
      'As `statecast export --redact` writes it, by the machines of this node. It can be folded and looked at, and never goes on; up to 1,000 commits, as more would keep others from their turn.',
    errors: ['not_found', 'conflict', 'drift', 'corrupt_at', 'too_large'],
  },
  'trace.import': {
    input: { kind: 'order', id: 'o-3', frames: [{ seq: 1, bytes: anOrder }], wakeAt: null },
    answer: { seq: 1, known: 0 },
    about:
      'What `trace.frames` gave elsewhere, in order and from the first; in several requests where it is long, `wakeAt` of its `head` with the last one, which makes it whole: until then nobody can use it. `known` counts those that were there already, as when it is sent again.',
    errors: ['conflict', 'log_full'],
  },
  'extensions.list': {
    input: {},
    answer: { extensions: [{ name: 'chat', state: 'running', starts: 1, startMs: 0 }] },
    about: 'One that was named by a path has its `module`; `state` is `waiting`, `running`, `stopped` or `failed`, the last with an `error`.',
  },
  'extensions.reload': {
    input: { name: 'chat' },
    answer: {
      error: {
        code: 'unsupported',
        message: "the extension 'chat' was not loaded from a module of its own",
        field: 'name',
        hint: "name it by its path, extensions: ['./it.mjs'], or restart the node",
        retryable: false,
      },
    },
    about:
      'Answers `{ extension }` when the new one has started. Who asks meanwhile shares the load; a module that cannot be loaded leaves the old one running.',
    errors: ['not_found', 'unsupported', 'conflict', 'timeout'],
  },
  'nodes.list': {
    input: {},
    answer: { nodes: [] },
    about: 'Only nodes on NATS share their work; each is `{ id, roles, host, pid, version, since, draining, partitions }`.',
  },
  'nodes.drain': {
    input: { node: 'node-1' },
    answer: {
      error: {
        code: 'unsupported',
        message: 'this runtime shares its actors with no other node',
        hint: 'stop its process: it drains by itself',
        retryable: false,
      },
    },
    about: 'Answers when the node has heard it. Only on NATS; a node of its own is drained by SIGTERM.',
    errors: ['not_found', 'unsupported'],
  },
  health: {
    input: {},
    answer: {
      writable: true,
      freeBytes: 81080578048,
      durability: 'SQLite, write-ahead log with synchronous=FULL: …',
      ready: true,
      liveActors: 2,
      transport: 'embedded',
    },
    about: '`detail` says what is wrong, `freeBytes` is there where it is known.',
  },
  'sessions.delete': { input: { sessionKey: 'main' }, answer: { deleted: 'main' }, errors: ['not_found', 'session_busy'] },
  'actors.delete': {
    input: { kind: 'order', id: 'o-17' },
    answer: { deleted: 'order/o-17' },
    about: 'Under its id another one can begin. The configuration is `config/main`: without it, what the app says holds.',
    errors: ['not_found', 'closed'],
  },
}
