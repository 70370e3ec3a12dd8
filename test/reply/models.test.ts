/** How hard to think, and which model: as a message says, else the session, else the configuration. */
import { expect, test } from 'vitest'
import type { ThinkingLevel } from '../../src/contracts/settings.ts'
import { story } from '../runtime/harness.ts'
import { ann, ask, before, known, listener, notices, restart, toggles } from './stage.ts'

test.each<[string, ThinkingLevel]>([
  ['off', 'off'],
  ['on', 'low'],
  ['max', 'high'],
  ['adaptive', 'adaptive'],
])('[OC-99] /think %s is %s', async (word, level) => {
  const { asked, script } = listener()
  await using told = await story(script)

  await ask(told, `/think ${word}`, ann('a'))
  await ask(told, 'hi', ann('b'))

  expect(await toggles(told)).toEqual({ thinking: level })
  expect(asked[0]?.settings.reasoning).toBe(level === 'off' ? 'none' : level === 'adaptive' ? undefined : level)
})

test('[OC-99] how hard to think: as the message says, else the session, else the configuration', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { thinking: 'minimal' })
  const thought = async (text: string, id: string) => {
    await ask(told, text, ann(id))
    return asked.at(-1)?.settings.reasoning
  }
  await ask(told, '/think high', ann('1'))

  expect(await thought('go /think:medium', '2')).toBe('medium')
  expect(await thought('go', '3')).toBe('high')
  await told.main.configure({ thinking: null })
  expect(await thought('go', '4')).toBe('minimal')
})

test('[OC-97, OC-98, OC-99] what is to be as usual again is taken back, for one message or from then on', async () => {
  const { asked, script } = listener()
  await using told = await story(script, { thinking: 'minimal' })
  const thought = async (text: string, id: string) => {
    await ask(told, text, ann(id))
    return asked.at(-1)?.settings.reasoning
  }
  await ask(told, '/think high /verbose full /reasoning on /elevated full', ann('1'))

  expect(await thought('go /think:default', '2')).toBe('minimal')
  expect(await thought('go', '3')).toBe('high')
  expect((await ask(told, '/think default /verbose default /reasoning default /elevated default', ann('4'))).text).toBe(
    ['Thinking', 'Tool messages', 'Reasoning', 'Elevated'].map((what) => `${what}: default.`).join('\n'),
  )
  expect(await toggles(told)).toEqual({})
  expect(await thought('go', '5')).toBe('minimal')
})

test.each([
  ['a model that can thinks a little', true, ['low']],
  // What cannot think need not be told so.
  ['one that cannot does not', false, ['none', undefined]],
])('[OC-99] where nobody says how hard to think, %s', async (_, reasoning, levels) => {
  const model = known({ reasoning }, () => ({ text: 'ok' }))
  await using told = await story([], { runtime: { models: { 'test/model': model } } })

  await ask(told, 'hi', ann('a'))

  expect(levels).toContain(model.asked[0]?.settings.reasoning)
})

test('[OC-99] the hardest thinking that is kept is lowered for a model that has none of it', async () => {
  const hard = known({ reasoning: true, xhigh: true }, () => ({ text: 'ok' }))
  const plain = known({ reasoning: true }, () => ({ text: 'ok' }))
  await using told = await story([], { model: 'test/hard', runtime: { models: { 'test/hard': hard, 'test/plain': plain } } })
  await ask(told, '/think xhigh', ann('1'))
  await ask(told, 'hi', ann('2'))
  expect(hard.asked[0]?.settings.reasoning).toBe('xhigh')

  await ask(told, '/model test/plain', ann('3'))
  await ask(told, 'hi', ann('4'))
  expect(plain.asked[0]?.settings.reasoning).toBe('high')
})

test('[OC-99] the hardest thinking is refused where the model has none of it', async () => {
  const plain = known({ reasoning: true }, () => ({ text: 'ok' }))
  await using told = await story([], { runtime: { models: { 'test/model': plain } } })

  expect((await ask(told, '/think xhigh', ann('a'))).text).not.toBe('Thinking: xhigh.')
  expect(await toggles(told)).toEqual({})
})

const models = () => {
  const [one, two] = [listener(() => ({ text: 'one' })), listener(() => ({ text: 'two' }))]
  return { one, two, runtime: { models: { 'test/model': one.script, 'other/sonnet-4': two.script } } }
}

test.each(['2', 'sonet-4'])('[OC-100] /model %s chooses that model, from the next message on; the model is told', async (words) => {
  const { one, two, runtime } = models()
  await using told = await story([], { runtime })

  expect((await ask(told, `/model ${words}`, ann('a'))).text).toBe('Model: other/sonnet-4.')
  await restart(told)
  expect((await ask(told, 'hi', ann('b'))).model).toBe('other/sonnet-4')
  await ask(told, 'again', ann('c'))

  expect(one.asked).toEqual([])
  expect(before(two.asked[0]!)).toMatch(/^System \[2026-01-31 08:05:00 UTC\]: the model is now other\/sonnet-4\n/)
  expect(before(two.asked[1]!)).toBe('[message id: c]')
  expect((await ask(told, '/model default', ann('d'))).text).toBe('Model: test/model (default).')
  expect(await toggles(told)).toEqual({})
  expect((await ask(told, 'hi', ann('e'))).model).toBe('test/model')
})

test('[OC-100] a model that may not be chosen is an error, and nothing changes', async () => {
  const { runtime } = models()
  await using told = await story([], { runtime })
  await ask(told, '/model other/sonnet-4', ann('a'))

  expect((await ask(told, '/model anthropic/claude-x', ann('b'))).text).toMatch(
    /^Model: 'anthropic\/claude-x' is not known.*Unchanged: other\/sonnet-4\.$/,
  )
  expect(await toggles(told)).toEqual({ model: 'other/sonnet-4' })
})

test('[OC-100] within a message a model that is not known is told to who asked for it', async () => {
  const { runtime } = models()
  await using told = await story([], { runtime })

  const { text } = await ask(told, '/model nobody/knows go on', ann('a'))

  expect([...notices(told), text].join('\n')).toContain("'nobody/knows' is not known")
})

test('[OC-100] within a message a model answers that message alone', async () => {
  const { runtime } = models()
  await using told = await story([], { runtime })

  expect((await ask(told, '/model sonnet-4 hi', ann('a'))).model).toBe('other/sonnet-4')
  expect((await ask(told, 'hi', ann('b'))).model).toBe('test/model')
})

test('[OC-99, OC-100] whether there is the hardest thinking is a question to the model that is chosen', async () => {
  const hard = known({ reasoning: true, xhigh: true }, () => ({ text: 'ok' }))
  const plain = known({ reasoning: true }, () => ({ text: 'ok' }))
  await using told = await story([], { runtime: { models: { 'test/model': plain, 'test/hard': hard } } })
  await ask(told, '/model test/hard', ann('1'))

  expect((await ask(told, '/think xhigh', ann('2'))).text).toBe('Thinking: xhigh.')
  await ask(told, 'hi', ann('3'))
  expect(hard.asked[0]?.settings.reasoning).toBe('xhigh')
})
