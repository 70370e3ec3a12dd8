/** Conversations as they look in the middle of something. */
import type { Answer, Block, ChatView, Conversation, Current, Said, ToolBlock } from '../../../web/chat/src/model.ts'
import { emptyOf } from './scripted.ts'

const today = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return new Date().setHours(hours, minutes, 0, 0)
}
const daysAgo = (days: number): number => today('12:00') - days * 86_400_000

const conversations: Conversation[] = [
  { key: 'refund', title: 'Refund for order 20417', at: today('13:50'), state: 'running.awaiting-input', needsYou: true, unread: true },
  { key: 'statement', title: 'November statement', at: today('09:12'), state: 'running.awaiting-input', needsYou: true },
  { key: 'invoice', title: 'Invoice export fails on Fridays', at: today('14:03'), state: 'running.answering' },
  { key: 'notes', title: 'Release notes for 0.9', at: today('14:20'), state: 'running.answering' },
  { key: 'retry', title: 'Retry delays for the workshop', at: today('11:21'), words: 'A retry keeps its idempotency key' },
  { key: 'stock', title: 'Warehouse stock, morning check', at: today('08:00'), words: '14 of 14 locations match', unread: true },
  { key: 'cluster', title: 'Rename the staging cluster', at: today('07:41'), state: 'failed' },
  { key: 'kettle', title: 'Kettle photos for the shop', at: daysAgo(3), words: 'Cropped to 4:5, twelve files' },
  { key: 'tokens', title: 'Who still uses the v1 tokens?', at: daysAgo(4), words: 'Three services; the list is above' },
  { key: 'story', title: 'Lighthouse story', at: daysAgo(5), words: 'And that was the story.' },
]

const viewOf = (current: Partial<Current> & { key: string }, changes: Partial<ChatView> = {}): ChatView => ({
  connection: { state: 'connected', node: 'node-1' },
  conversations,
  models: [
    { id: 'anthropic/claude-sonnet-4-5', detail: '$3 / $15, reads 200k' },
    { id: 'anthropic/claude-opus-4-5', detail: '$5 / $25, reads 200k' },
    { id: 'openai/gpt-5.1', detail: '400k', unavailable: 'cooling down' },
    { id: 'offline/stand-in', detail: 'needs no key, calls the real tools' },
  ],
  thinkingLevels: ['off', 'low', 'medium', 'high'],
  ...changes,
  current: {
    ...emptyOf(current.key, conversations.find((one) => one.key === current.key)?.title ?? 'New conversation'),
    model: 'anthropic/claude-sonnet-4-5',
    thinking: 'medium',
    ...current,
  },
})

const said = (id: string, text: string, clock: string): Said => ({ kind: 'said', id, text, at: today(clock), state: 'sent' })
const text = (id: string, words: string): Block => ({ type: 'text', id, text: words })
const thought = (id: string, thinking: string, durationMs: number): Block => ({ type: 'thinking', id, thinking, durationMs })
const done = (callId: string, name: string, input: unknown, output: unknown, durationMs: number): ToolBlock => ({
  type: 'tool',
  callId,
  name,
  state: 'done',
  input,
  output,
  durationMs,
})
const answer = (id: string, state: Answer['state'], blocks: Block[], rest: Partial<Answer> = {}): Answer => ({
  kind: 'answer',
  id,
  state,
  blocks,
  ...rest,
})
const approval = (name: string, input: unknown, why: 'approval' | 'in_doubt') => ({
  callId: `call-${name}`,
  runId: 'run',
  name,
  input,
  inputHash: '0'.repeat(64),
  attempt: why === 'in_doubt' ? 2 : 1,
  why,
})

const running = (state: string, since: number) => ({ running: true, state, stateSince: Date.now() - since })

export const scenes = {
  live: () =>
    viewOf({
      key: 'invoice',
      ...running('running.answering', 42_000),
      tokens: 31_000,
      window: 200_000,
      costUsd: 0.21,
      earlier: { count: 41, loading: false },
      waiting: [{ id: 'w1', text: 'Then write a line for the changelog.', mode: 'followup' }],
      entries: [
        said('s1', 'The invoice export fails every Friday. Find out why, and fix it.', '14:02'),
        answer('r1', 'running', [
          thought('m1', 'The log ends at 23:59 on each of the three Fridays. That is the weekly batch, so the schedule is the first suspect.', 6000),
          done(
            'c1',
            'search_files',
            { pattern: 'nextRun', path: 'src/export' },
            'schedule.ts:18\nschedule.ts:41\nbatch.ts:7\nschedule.test.ts:3',
            300,
          ),
          text(
            'm2',
            'All three failures end at 23:59, when the weekly batch begins. The schedule is computed in `nextRun`, so I am running its tests first.',
          ),
          done('c2', 'run_tests', { suite: 'export' }, 'failed: schedule.test.ts › weekly › crosses midnight in Lisbon', 31_000),
          { type: 'joined', id: 's2', text: 'Leave the columns of the CSV as they are, two customers parse them.', at: today('14:03') },
          text(
            'm3',
            'Understood: the CSV stays as it is, only the schedule changes.\n\nThe cause is in `nextRun`. It adds a day to a date in local time and then compares it in UTC. On Fridays the batch starts one minute before midnight, so for that minute the comparison answers “already ran” and the export is **skipped without an error',
          ),
        ]),
      ],
    }),
  tool: () =>
    viewOf({
      key: 'notes',
      ...running('running.answering', 19_000),
      waiting: [
        { id: 'w1', text: 'Leave the internal changes out.', mode: 'steer' },
        { id: 'w2', text: 'Then write a line for the changelog.', mode: 'followup' },
      ],
      entries: [
        said('s1', 'Draft the release notes for 0.9 from the merged changes since 0.8, and try every example in them.', '14:20'),
        answer('r1', 'running', [
          thought('m1', 'First the list of changes, then the examples one by one; the notes come last.', 4000),
          done('c1', 'list_changes', { from: 'v0.8', to: 'main' }, '34 changes, 6 of them marked as breaking', 400),
          text(
            'm2',
            'There are 34 changes, six of them breaking. Before I write, I run the examples that they touch:\n\n- the five that use channels,\n- the two that move a conversation to another node.',
          ),
          done('c2', 'run_example', { name: '09-a-channel' }, 'output equals expected.txt', 3100),
          {
            type: 'tool',
            callId: 'c3',
            name: 'run_example',
            state: 'running',
            input: { name: '12-move-a-node' },
            progress: { done: 37, total: 58, message: 'node-2 took the partition over, 37 sessions moved' },
            startedAt: Date.now() - 12_000,
          },
        ]),
      ],
    }),
  approval: () =>
    viewOf({
      key: 'refund',
      ...running('running.awaiting-input', 120_000),
      tokens: 6000,
      window: 200_000,
      costUsd: 0.02,
      entries: [
        said('s1', 'Order 20417 never arrived. Refund it and tell the customer.', '13:48'),
        answer('r1', 'running', [
          done('c1', 'find_order', { order: '20417' }, { status: 'lost', paid: '49.90', currency: 'EUR' }, 200),
          text(
            'm1',
            'The parcel was handed over on 11 November and has not been scanned since. The carrier counts it as lost after ten days, so the whole amount is due:\n\n| Item | Pieces | Amount |\n|---|--:|--:|\n| Enamel kettle, 1.2 l | 1 | 44.00 EUR |\n| Shipping | | 5.90 EUR |\n',
          ),
          {
            type: 'ask',
            since: today('13:50'),
            approval: approval(
              'refund_order',
              { order: '20417', amount: '49.90', currency: 'EUR', reason: 'parcel lost, no scan since 2026-11-11', notify: true },
              'approval',
            ),
          },
        ]),
      ],
    }),
  trouble: () =>
    viewOf(
      {
        key: 'statement',
        ...running('running.awaiting-input', 3000),
        entries: [
          said('s1', 'Is the October statement archived?', '09:04'),
          answer('r1', 'error', [], {
            error: { code: 'provider_timeout', message: 'Three attempts in 94 s', retryable: true },
          }),
          said('s2', 'Mail the November statement to the three partners, then archive it.', '09:10'),
          answer('r2', 'running', [
            done('c1', 'render_statement', { month: '2026-11' }, { pages: 4 }, 1800),
            {
              type: 'tool',
              callId: 'c2',
              name: 'upload_file',
              state: 'error',
              input: { path: 'statement-2026-11.pdf', bucket: 'archive' },
              message: 'The storage answered 503 Slow Down three times. The agent was told and goes on without the upload.',
              durationMs: 9000,
            },
            { type: 'resumed', id: 'h1', at: today('09:11'), awayMs: 4000 },
            {
              type: 'ask',
              approval: approval(
                'send_mail',
                { to: 'lena@northpier.example', subject: 'Statement for November', attach: ['statement-2026-11.pdf'] },
                'in_doubt',
              ),
            },
          ]),
        ],
      },
      { connection: { state: 'lost', retryAt: Date.now() + 60_000 } },
    ),
  rich: () =>
    viewOf({
      key: 'retry',
      state: 'idle',
      entries: [
        said('s1', 'How long do we wait between attempts, and how sure are we that it does not pile up?', '11:20'),
        answer('r1', 'final', [thought('m1', 'Two questions: the delays, and their worst case.', 9000), text('m2', rich)], {
          model: 'anthropic/claude-sonnet-4-5',
          usage: { inputTokens: 12_400, outputTokens: 1100, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 },
          costUsd: 0.043,
          durationMs: 18_000,
        }),
        { kind: 'notice', id: 'n1', text: 'The agent was given another tool, read_calendar.' },
        said('s2', Array.from({ length: 20 }, (_, line) => `Line ${line + 1} of the handout, which is long.`).join('\n'), '11:24'),
        answer(
          'r2',
          'aborted',
          [text('m3', 'Retrying is a promise to a stranger: the server that failed will be asked again, and it should be able to')],
          {
            durationMs: 4000,
          },
        ),
      ],
    }),
  wide: () =>
    viewOf({
      key: 'stock',
      entries: [
        {
          ...said('s1', `Look at ${'x'.repeat(150)}.`, '08:00'),
          files: [{ id: 'f1', mimeType: 'text/csv', bytes: 48_000, fileName: `${'stock-of-all-locations-'.repeat(5)}.csv` }],
        },
        answer('r1', 'final', [text('m1', wide), { type: 'text', id: 'r1:reply', text: 'tools: 3\n  tool add: 147 characters', lines: true }]),
        said('s2', 'And again?', '08:01'),
        answer('r2', 'error', [], { error: { code: 'provider_auth', message: 'x'.repeat(150), retryable: false } }),
      ],
    }),
  empty: () => viewOf({ key: 'new' }),
  loading: () => viewOf({ key: 'stock', loading: true }),
}
export type SceneName = keyof typeof scenes

const rich = `The wait doubles with each attempt, up to a limit, with a random share:

\`\`\`ts
const delayMs = (attempt: number, random: () => number) => {
  const full = Math.min(30_000, 100 * 2 ** attempt) // never above half a minute, however long this line may become in the end
  return full / 2 + random() * (full / 2)
}
\`\`\`

## The worst case

Over $n$ attempts the sum stays below twice the last delay:

$$\\sum_{k=1}^{n} d_k = 100\\,(2^{n+1} - 2) < 2 d_n$$

| Attempt | Shortest | Longest | After that |
|---|--:|--:|---|
| 1 | 100 ms | 200 ms | the same model |
| 2 | 200 ms | 400 ms | the same model |
| 3 | 400 ms | 800 ms | the next credential |

> A retry keeps its idempotency key.

1. It never runs twice *by accident*.
2. A restart does not begin the count anew.

- [x] said aloud
- [ ] written down, see [the guide](https://example.org/guide) and <b onclick="alert(1)">this</b>
`

const wide = `All of it:

| location | state |
| --- | --- |
| ${'x'.repeat(150)} | 14 of 14 |

\`\`\`ts
const line = '${'x'.repeat(150)}'
\`\`\`
`
