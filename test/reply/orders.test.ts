/** What users tell us rather than the model: settings, for the conversation or for one message. */
import { expect, test } from 'vitest'
import { story } from '../runtime/harness.ts'
import { ann, ask, crashes, eventsOf, expectReplay, listener, newest, notices, restart, toggles } from './stage.ts'

const stranger = (id: string) => ann(id, { authorised: false })

test('[OC-97] a directive within a message is taken out of it, and holds for it', async () => {
  const { asked, script } = listener()
  await using told = await story(script)

  await ask(told, 'fix it /think:high now', ann('a'))

  expect(asked.map(newest)).toEqual(['fix it now'])
  expect(asked[0]?.settings.reasoning).toBe('high')
  expect(await told.transcript()).toEqual(['user: fix it now', 'assistant: re: fix it now'])
})

test.each<[string, string, object]>([
  ['/t high', 'Thinking: high.', { thinking: 'high' }],
  ['/verbose on', 'Tool messages: on.', { verbose: 'on' }],
  ['/reasoning stream', 'Reasoning: stream.', { reasoning: 'stream' }],
  ['/elevated full', 'Elevated: full.', { elevated: 'full' }],
  ['/model test/model', 'Model: test/model (default).', {}],
  ['/queue collect', 'Queue: collect.', { queueMode: 'collect' }],
  ['/t low /v on', 'Thinking: low.\nTool messages: on.', { thinking: 'low', verbose: 'on' }],
])('[OC-97, OC-98] %s alone is kept and acknowledged, without a model', async (text, answer, kept) => {
  const { asked, script } = listener()
  await using told = await story(script)

  expect(await ask(told, text, ann('a'))).toMatchObject({ outcome: 'replied', text: answer, steps: 0 })
  await restart(told)

  expect(asked).toEqual([])
  expect(await toggles(told)).toEqual(kept)
  expect(await told.transcript()).toEqual([])
  expect((await told.main.outcome('a')).text).toBe(answer)
})

test('[OC-97] /exec is taken out of a message, too', async () => {
  const { asked, script } = listener()
  await using told = await story(script)

  await ask(told, 'list files /exec:host=gateway ask=off please', ann('a'))

  expect(asked.map(newest)).toEqual(['list files please'])
})

test('[OC-97] of a stranger a directive within a message is text like any other', async () => {
  const { asked, script } = listener()
  await using told = await story(script)

  await ask(told, 'fix it /think:high now', stranger('a'))

  expect(asked.map(newest)).toEqual(['fix it /think:high now'])
  expect(asked[0]?.settings.reasoning).toBeUndefined()
})

test.each(['/think high', '/model test/model', '/queue collect', '/status'])('[OC-97] of a stranger %s alone is ignored', async (text) => {
  const { asked, script } = listener()
  await using told = await story(script)

  const { outcome } = await ask(told, text, stranger('a'))

  expect([outcome, asked.length]).toEqual(['silent', 0])
  expect(await toggles(told)).toEqual({})
})

test('[OC-97] what no channel brought holds no orders: a service means the model, whatever it says', async () => {
  const { asked, script } = listener()
  await using told = await story(script)

  for (const text of ['/think high', 'fix it /think:high now', 'stop', '/new hello', '/status']) await ask(told, text)

  expect(asked.map(newest)).toEqual(['/think high', 'fix it /think:high now', 'stop', '/new hello', '/status'])
  expect(asked.every(({ settings }) => settings.reasoning === undefined)).toBe(true)
  expect(await toggles(told)).toEqual({})
})

test.each(crashes)('[OC-98] a directive alone holds from then on, one within a message for that message alone%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script)
  const thought = async (text: string, id: string) => {
    await ask(told, text, ann(id))
    return asked.at(-1)?.settings.reasoning
  }

  expect(await thought('deep /think:high', '1')).toBe('high')
  expect(await thought('hi', '2')).toBeUndefined()
  await ask(told, '/think high', ann('3'))
  if (crash) await restart(told)
  expect(await thought('hi', '4')).toBe('high')
  expect(await thought('quick /think:low', '5')).toBe('low')
  expect(await thought('hi', '6')).toBe('high')
  expect(await toggles(told)).toEqual({ thinking: 'high' })
})

test('[OC-98] within a message nothing of it is kept, whatever is set', async () => {
  await using told = await story(listener().script)

  await ask(told, 'go /think:low /verbose:full /reasoning:on /elevated:ask /queue:collect debounce:1s cap:3 drop:old', ann('a'))

  expect(await toggles(told)).toEqual({})
})

test.each([
  ['/think', /^Thinking: as the model is set\. Choose: off, minimal, low, medium, high, xhigh, adaptive, default\.$/],
  ['/verbose', /^Tool messages: off\. Choose: off, on, full, default\.$/],
  ['/reasoning', /^Reasoning: off\. Choose: off, on, stream, default\.$/],
  ['/elevated', /^Elevated: off\. Choose: /],
  ['/model', /^Model: test\/model\.$/],
  ['/queue', /^Queue: steer, debounce 500 ms, cap .*, drop .*\. Choose: steer, followup, collect, steer-backlog, interrupt/],
])('[OC-98] %s without a value says how things stand and what there is to choose from', async (text, answer) => {
  await using told = await story(listener().script)

  expect((await ask(told, text, ann('a'))).text).toMatch(answer)
  expect(await toggles(told)).toEqual({})
})

test.each([
  [
    '/think very',
    /'very' is not an option; choose one of off, minimal, low, medium, high, xhigh, adaptive, default\. Unchanged: as the model is set\./,
  ],
  ['/verbose loud', /'loud' is not an option; choose one of off, on, full, default\. Unchanged: off\./],
  ['/model nobody/knows', /'nobody\/knows' is not known.* Unchanged: test\/model\./],
  ['/queue drop:some', /'drop:some' is not an option/],
  ['/usage much', /'much' is not an option; choose one of off, tokens, full, cost/],
])('[OC-98] %s is answered with a hint, and nothing is kept', async (text, answer) => {
  const { asked, script } = listener()
  await using told = await story(script)

  expect((await ask(told, text, ann('a'))).text).toMatch(answer)
  expect(await toggles(told)).toEqual({})
  expect(asked).toEqual([])
})

test.each(crashes)('[OC-101] /queue with all that it takes, and back to the defaults%s', async (crash) => {
  await using told = await story(listener().script)

  expect((await ask(told, '/queue collect debounce:2s cap:25', ann('a'))).text).toBe('Queue: collect, debounce 2000 ms, cap 25.')
  if (crash) await restart(told)
  expect(await toggles(told)).toEqual({ queueMode: 'collect', debounceMs: 2000, queueCap: 25 })
  for (const [words, ms] of [
    ['debounce:1500', 1500],
    ['debounce:3m', 180_000],
    ['debounce:1h', 3_600_000],
    ['debounce:1d', 86_400_000],
    ['debounce:20ms', 20],
  ] as const) {
    await ask(told, `/queue ${words}`, ann(words))
    expect((await toggles(told)).debounceMs).toBe(ms)
  }
  await ask(told, '/queue cap:0', ann('b'))
  expect((await toggles(told)).queueCap).toBe(25)
  await ask(told, '/queue drop:old', ann('c'))
  expect((await toggles(told)).queueDrop).toBe('old')
  for (const word of ['default', 'reset']) {
    await ask(told, '/queue followup', ann(`set ${word}`))
    await ask(told, `/queue ${word}`, ann(word))
    expect(await toggles(told)).toEqual({})
  }
})

test('[OC-101] the first word that is none of its own stays in the text', async () => {
  const { asked, script } = listener()
  await using told = await story(script)

  await ask(told, '/queue collect debounce:2s please go on drop:old', ann('a'))

  expect(asked.map(newest)).toEqual(['please go on drop:old'])
  expect(await toggles(told)).toEqual({})
})

test('[OC-101] no user makes the queue longer than any may be', async () => {
  await using told = await story(listener(undefined, 10_000).script)
  await ask(told, '/queue followup cap:100000', ann('cap'))
  await told.say('go', ann('a'))

  for (let n = 0; n < 130; n++) await told.say(`m${n}`, ann(`m${n}`)).catch(() => undefined)

  expect((await told.main.view()).queued.length).toBeLessThanOrEqual(100)
})

test('[OC-98] a setting in a message that joins a run is not lost without a word', async () => {
  const { asked, script } = listener()
  await using told = await story(script)
  await told.say('go', ann('a'))
  await told.clock.advance(40)

  await told.say('and hurry /think:high', ann('b'))
  await told.quiet()

  expect([asked.at(-1)?.settings.reasoning, ...notices(told)].join()).toContain('high')
})

test('[OC-95, OC-98] an order that is sent again under its key is answered as the first time, and done once, also over a crash', async () => {
  await using told = await story(listener().script)
  expect((await ask(told, '/usage', ann('a'))).text).toBe('Usage line: tokens.')
  await restart(told)

  expect((await ask(told, '/usage', ann('a'))).text).toBe('Usage line: tokens.')
  expect(await toggles(told)).toEqual({ usage: 'tokens' })
  await expectReplay(told)
})

test.each(['one /think:high', '/new one', '/context json', '/queue collect'])(
  '[OC-19, OC-23, OC-97] what is written in one breath is taken in in that order, also where it begins with %s',
  async (first) => {
    await using told = await story(listener().script, { queueMode: 'followup' })
    await told.say('go', ann('a'))

    await told.clock.until(Promise.all([told.main.send(first, ann('b')), told.main.send('two', ann('c')), told.main.send('three', ann('d'))]))

    expect(eventsOf(told, 'accepted').map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  },
)
