import { expect, test } from 'vitest'
import type { Message } from '../../../src/contracts/message.ts'
import { decideOffline, offlineModel } from '../../../src/models/offline/offline.ts'
import { summaryInstructions } from '../../../src/models/summary-prompt.rules.ts'
import { growth, growthMax } from '../../support/growth.ts'
import { aRequest, assistant, result, start, user, virtualClock } from '../fixtures.ts'

const allTools = ['calculate', 'now', 'read_file', 'list_files']
const decide = (messages: Message[], tools = allTools) => decideOffline(messages, tools)
const callsFor = (text: string, before: Message[] = []) =>
  decide([...before, user(text)]).calls?.map(({ name, input }) => ({ name, ...(input as object) }))
const calculated = (expression: string, value: number): Message[] => [
  user(`what is ${expression}?`),
  assistant('', [{ callId: 'c1', name: 'calculate', input: { expression } }]),
  result('c1', 'calculate', { expression, value }),
  assistant(`${expression} = ${value}`),
]

test.each([
  ['what is 17*23?', '17*23'],
  ['17 times 23', '17 * 23'],
  ['Please compute (2 + 3) * 4.', '(2 + 3) * 4'],
  ['how much is 1,000 divided by 8', '1000 / 8'],
  ['2 to the power of 10?', '2 ^ 10'],
  ['what is -3 + 4', '-3 + 4'],
  ['15% of 80', '15 / 100 * 80'],
  ['(what is 2 + 2)', '2 + 2'],
])('"%s" is worked out by the tool', (text, expression) => {
  expect(callsFor(text)).toEqual([{ name: 'calculate', expression }])
})

test.each([
  ['and plus 9?', '391 + 9'],
  ['times 2', '391 * 2'],
  ['Then minus 3.', '391 - 3'],
  ['what is that divided by 4?', '391 / 4'],
  ['multiply it by 3', '391 * 3'],
  ['squared', '391 ^ 2'],
])('"%s" goes on from the last result', (text, expression) => {
  expect(callsFor(text, calculated('17*23', 391))).toEqual([{ name: 'calculate', expression }])
})

test('a result below zero is put in parentheses when it goes on', () => {
  expect(callsFor('squared', calculated('1-4', -3))).toEqual([{ name: 'calculate', expression: '(-3) ^ 2' }])
})

test('a follow-up without a result before it is told so', () => {
  expect(decide([user('plus 9')])).toMatchObject({ text: 'There is no earlier result to go on from.' })
})

test.each([
  ['what time is it?', { name: 'now' }],
  ['What is the time in Europe/Zurich?', { name: 'now', timeZone: 'Europe/Zurich' }],
  ['read notes/plan.md', { name: 'read_file', path: 'notes/plan.md' }],
  ['show me the file "report-2024-01.txt".', { name: 'read_file', path: 'report-2024-01.txt' }],
  ['please read ../../etc/passwd', { name: 'read_file', path: '../../etc/passwd' }],
  ['list files', { name: 'list_files' }],
  ['which files are in notes?', { name: 'list_files', path: 'notes' }],
])('"%s" asks for its tool', (text, call) => {
  expect(callsFor(text)).toEqual([call])
})

test('several requests in one message become parallel calls, in their order', () => {
  expect(callsFor('What time is it, what is 2+2, and read a.txt')?.map(({ name }) => name)).toEqual(['now', 'calculate', 'read_file'])
})

test('messages that came while it was busy are all answered, and may refer to each other', () => {
  const { calls, text } = decide([user('what is 2*3?'), user('and plus 1?'), user('good morning')])

  expect(calls).toMatchObject([{ input: { expression: '2*3' } }, { input: { expression: '(2*3) + 1' } }])
  expect(text).toContain('good morning')
})

test('steering between two steps is answered together with the results', () => {
  const messages = [...calculated('17*23', 391).slice(0, 3), user('what is 1+1?')]

  expect(decide(messages)).toMatchObject({ text: '17*23 = 391', calls: [{ name: 'calculate', input: { expression: '1+1' } }] })
})

test('results are reported plainly, failures with their reason', () => {
  const asked = assistant('', [
    { callId: 'a', name: 'calculate', input: { expression: '0.1+0.2' } },
    { callId: 'b', name: 'now', input: {} },
    { callId: 'c', name: 'read_file', input: { path: 'a.txt' } },
    { callId: 'd', name: 'list_files', input: {} },
    { callId: 'e', name: 'calculate', input: { expression: '1/0' } },
  ])
  const results = [
    result('a', 'calculate', { expression: '0.1+0.2', value: 0.1 + 0.2 }),
    result('b', 'now', { iso: '2026-01-31T08:05:00.000Z', timeZone: 'UTC', local: '2026-01-31 08:05:00' }),
    result('c', 'read_file', { path: 'a.txt', text: 'hello', offset: 0, sizeBytes: 5 }),
    result('d', 'list_files', {
      path: '.',
      entries: [
        { name: 'a.txt', kind: 'file' },
        { name: 'notes', kind: 'folder' },
      ],
      truncated: false,
    }),
    result('e', 'calculate', { code: 'tool_failed', message: 'division by zero', retryable: false }, true),
  ]

  expect(decide([user('all of it'), asked, ...results]).text?.split('\n')).toEqual([
    '0.1+0.2 = 0.3',
    'It is 2026-01-31 08:05:00 (UTC).',
    'a.txt:',
    'hello',
    'Files in the workspace: a.txt, notes/',
    'calculate (1/0) failed: division by zero',
  ])
})

test('a tool that it would need and does not have is named', () => {
  expect(decide([user('what is 1+1?')], ['now'])).toMatchObject({
    text: expect.stringContaining('the tool calculate, which this agent does not have'),
  })
})

test('anything else gets a friendly answer that says what it is and how to set a key', () => {
  const { text, calls } = decide([user('tell me about Rome')])

  expect(text).toMatch(/offline stand-in.*ANTHROPIC_API_KEY/s)
  expect(calls).toBeUndefined()
})

test('it says that it can do only what the tools of the agent allow', () => {
  const all = decide([user('tell me about Rome')]).text
  const refunds = decide([user('tell me about Rome')], ['refund']).text
  const none = decide([user('tell me about Rome')], []).text

  expect(all).toContain('calculate, tell the time, list files of the workspace, read files of the workspace and tell a long story')
  expect(refunds).toContain('I can tell a long story. I call a tool of this agent (refund) when')
  expect(none).toContain('I can tell a long story. This agent has no tools.')
})

/** Plays the turn of a story as the runtime does, until no call is left. */
const toldStory = (messages: Message[], tools = allTools): string[] => {
  const told: string[] = []
  for (;;) {
    const { text = '', calls = [] } = decide(messages, tools)
    told.push(text)
    if (calls.length === 0) return told
    const requested = calls.map(({ name, input }, index) => ({ callId: `c${told.length}-${index}`, name, input }))
    const results = requested.map(({ callId, name }) => result(callId, name, { local: '12:00', timeZone: 'UTC' }))
    messages = [...messages, assistant(text, requested), ...results]
  }
}

test('a long story is told in chapters with a look at the clock between them, or in one where there is no clock', () => {
  const chapters = toldStory([user('please tell me a long story')])
  const [whole, ...more] = toldStory([user('Tell me a story, slowly')], ['calculate'])

  expect(chapters).toHaveLength(4)
  expect(chapters[1]).toMatch(/^It is 12:00 \(UTC\)\.\nOn the third night/)
  expect(chapters.at(-1)).toMatch(/And that was the story\.$/)
  expect(more).toEqual([])
  expect(whole).toMatch(/^The lamp[\s\S]*the story\.$/)
})

test('who speaks up during the story is answered instead of the next chapter', () => {
  const wish = user('tell me a long story')
  const { text = '', calls = [] } = decide([wish])
  const skipped = result('c1', 'now', { error: { code: 'tool_skipped', message: 'overtaken' } }, true)

  const after = decide([wish, assistant(text, [{ callId: 'c1', name: 'now', input: calls[0]?.input }]), skipped, user('what is 6*7?')])

  expect(after).toMatchObject({ calls: [{ name: 'calculate' }] })
  expect(after.text).toBeUndefined()
})

test('a conversation in which somebody wished for a story is no wish for one', () => {
  expect(decide([user('Person: refund 7\n\nPerson: tell me a long story')]).text).toMatch(/^You said/)
})

test('the story takes its time: some twenty seconds', async () => {
  const clock = virtualClock()
  let ended = false
  const { response, deltas } = start(offlineModel({ clock }), aRequest({ messages: [user('tell me a long story')] }))
  void response.then(() => {
    ended = true
  })

  await clock.advance(15_000)
  expect({ ended, begun: deltas.length > 100 }).toEqual({ ended: false, begun: true })
  await clock.advance(10_000)

  expect((await response).text).toMatch(/the story\.$/)
})

test.each([
  '',
  ' ',
  '- 3 apples',
  '2026-01-31',
  '....',
  '+',
  ')(',
  '1'.repeat(10_000),
  '('.repeat(5000),
  '1+'.repeat(5000),
  'read '.repeat(2000),
  'tell me a '.repeat(1000),
  'please '.repeat(1000),
])('odd text no. %# gets an answer and no crash', (text) => {
  const { text: answer = '', calls = [] } = decide([user(text)])

  expect(answer.length + calls.length).toBeGreaterThan(0)
})

test.each(['1', '(', '1+', 'read ', 'tell me a ', 'please '])('%j said many times takes time in proportion to that', (unit) => {
  const deciding = (size: number) => {
    const text = unit.repeat(size)
    return () => void decide([user(text)])
  }

  expect(growth(2_000, deciding)).toBeLessThan(growthMax)
})

test('the model streams word by word', async () => {
  const clock = virtualClock()
  const call = start(offlineModel({ clock, deltaDelayMs: 5 }), aRequest({ messages: [user('hello')] }))

  await clock.advance(12)
  expect(call.deltas.map(({ text }) => text)).toEqual(['You ', 'said: ', '"hello". '])
  await clock.advance(1000)

  expect(await call.response).toMatchObject({ model: 'scripted/offline', finish: 'stop' })
})

test('asked to shorten a conversation it keeps the beginning of each line, and calculates nothing', async () => {
  const text = `User: what is 1+2?\n\nAssistant: ${'long '.repeat(40)}`
  const clock = virtualClock()
  const model = offlineModel({ clock, deltaDelayMs: 0 })

  const answer = await model.call(aRequest({ instructions: summaryInstructions('the names'), messages: [user(text)], tools: [] }), {
    signal: new AbortController().signal,
    onDelta: () => undefined,
  })

  expect(answer.text.split('\n')).toEqual(['User: what is 1+2?', expect.stringMatching(/^Assistant: long (long )*.*…$/)])
})
