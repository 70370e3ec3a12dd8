import { expect, test } from 'vitest'
import { chooseModel, type ModelCatalogue, modelList, namedModel } from '../../../src/chat/directives/model-choice.rules.ts'

const aCatalogue = (changes: Partial<ModelCatalogue> = {}): ModelCatalogue => ({
  known: [
    { ref: 'anthropic/claude-opus-4-5', alias: 'opus' },
    { ref: 'anthropic/claude-sonnet-4-5' },
    { ref: 'anthropic/claude-sonnet-4' },
    { ref: 'openai/gpt-5', alias: 'smart' },
    { ref: 'openai/gpt-5-mini' },
    { ref: 'azure/gpt-5' },
    { ref: 'vertex/claude@20250101' },
  ],
  default: 'anthropic/claude-sonnet-4-5',
  ...changes,
})

test.each([
  ['openai/gpt-5-mini', 'openai/gpt-5-mini', 'reference'],
  [' OpenAI/GPT-5-Mini ', 'openai/gpt-5-mini', 'reference'],
  ['gpt-5-mini', 'openai/gpt-5-mini', 'reference'],
  ['opus', 'anthropic/claude-opus-4-5', 'alias'],
  ['SMART', 'openai/gpt-5', 'alias'],
  ['1', 'anthropic/claude-opus-4-5', 'number'],
  ['5', 'openai/gpt-5-mini', 'number'],
  ['default', 'anthropic/claude-sonnet-4-5', 'default'],
  ['mini', 'openai/gpt-5-mini', 'search'],
  ['claude opus', 'anthropic/claude-opus-4-5', 'search'],
  ['sonet', 'anthropic/claude-sonnet-4-5', 'search'],
  ['sonnet', 'anthropic/claude-sonnet-4-5', 'search'],
  ['sonnet 4', 'anthropic/claude-sonnet-4', 'search'],
  ['claude', 'anthropic/claude-sonnet-4-5', 'search'],
  ['gpt', 'openai/gpt-5', 'search'],
  ['gpt 5', 'openai/gpt-5', 'search'],
  ['claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5', 'search'],
  ['gpt5', 'openai/gpt-5', 'search'],
  ['vertex/claude@20250101', 'vertex/claude@20250101', 'reference'],
])('%j means %s, by %s [OC-100]', (words, ref, by) => {
  expect(chooseModel(words, aCatalogue())).toEqual({ ref, by })
})

test('a profile may follow any of them [OC-100]', () => {
  const chosen = ['opus@work', '4@home', 'openai/gpt-5@a', 'default@b', 'opsu-4-5@c', 'vertex/claude@20250101@d'].map((words) =>
    chooseModel(words, aCatalogue()),
  )

  expect(chosen).toEqual([
    { ref: 'anthropic/claude-opus-4-5', by: 'alias', profile: 'work' },
    { ref: 'openai/gpt-5', by: 'number', profile: 'home' },
    { ref: 'openai/gpt-5', by: 'reference', profile: 'a' },
    { ref: 'anthropic/claude-sonnet-4-5', by: 'default', profile: 'b' },
    { ref: 'anthropic/claude-opus-4-5', by: 'search', profile: 'c' },
    { ref: 'vertex/claude@20250101', by: 'reference', profile: 'd' },
  ])
})

test('of one model at several providers the one in use is meant, or else the first', () => {
  expect(chooseModel('gpt-5', aCatalogue())).toMatchObject({ ref: 'openai/gpt-5' })
  expect(chooseModel('gpt-5', aCatalogue({ default: 'azure/gpt-5' }))).toMatchObject({ ref: 'azure/gpt-5' })
  expect(chooseModel('gpt-5', aCatalogue({ allowed: ['azure/gpt-5'] }))).toMatchObject({ ref: 'azure/gpt-5' })
})

test('a model that is not allowed is refused, with those that are and come near [OC-100]', () => {
  const catalogue = aCatalogue({ allowed: ['openai/gpt-5-mini', 'OpenAI/gpt-5'] })

  expect(chooseModel('azure/gpt-5', catalogue)).toEqual({ refused: 'not_allowed', near: ['openai/gpt-5', 'openai/gpt-5-mini'] })
  expect(chooseModel('opus', catalogue)).toEqual({ refused: 'not_allowed', near: [] })
  expect(chooseModel('opus@work', catalogue)).toMatchObject({ refused: 'not_allowed' })
  expect(chooseModel('claude opus', catalogue)).not.toMatchObject({ ref: 'anthropic/claude-opus-4-5' })
})

test('the default may always be chosen, and numbers count what may be', () => {
  const catalogue = aCatalogue({ allowed: ['openai/gpt-5', 'local/llama'] })

  expect(modelList(catalogue)).toEqual(['anthropic/claude-sonnet-4-5', 'openai/gpt-5', 'local/llama'])
  expect(chooseModel('1', catalogue)).toEqual({ ref: 'anthropic/claude-sonnet-4-5', by: 'number' })
  expect(chooseModel('local/llama', catalogue)).toEqual({ ref: 'local/llama', by: 'reference' })
  expect(chooseModel('4', catalogue)).toMatchObject({ refused: 'unknown' })
  expect(chooseModel('default', aCatalogue({ known: [], default: 'a/b' }))).toEqual({ ref: 'a/b', by: 'default' })
})

test.each(['hello', 'zzz', '0', '99', '-1', '', '@', '@work', '…'])('%j names no model', (words) => {
  expect(chooseModel(words, aCatalogue())).toMatchObject({ refused: 'unknown' })
})

test('a name with one word that fits no model chooses none, however much of the rest fits', () => {
  for (const words of ['claude haiku 4 5', 'claude-sonnet-4-6', 'gpt 6', 'gpt-5 please'])
    expect(chooseModel(words, aCatalogue())).toMatchObject({ refused: 'unknown' })
})

test('a word of great length is no search', () => {
  expect(chooseModel('a'.repeat(100_000), aCatalogue())).toEqual({ refused: 'unknown', near: [] })
})

test('a word that is nearly a model is refused with the models that it may have been', () => {
  expect(chooseModel('claude-haiku', aCatalogue())).toMatchObject({ refused: 'unknown', near: expect.arrayContaining(['anthropic/claude-sonnet-4']) })
})

test('after /new only a reference or an alias names a model, so that no ordinary word does [OC-29]', () => {
  expect(namedModel('opus', aCatalogue())).toMatchObject({ ref: 'anthropic/claude-opus-4-5' })
  expect(namedModel('gpt-5@work', aCatalogue())).toEqual({ ref: 'openai/gpt-5', by: 'reference', profile: 'work' })
  expect(namedModel('vertex/claude@20250101', aCatalogue())).toEqual({ ref: 'vertex/claude@20250101', by: 'reference' })
  expect(['hello', '2', 'mini', 'default', 'ann@example'].map((word) => namedModel(word, aCatalogue()))).toEqual(Array(5).fill(undefined))
  expect(namedModel('opus', aCatalogue({ allowed: [] }))).toMatchObject({ refused: 'not_allowed' })
})
