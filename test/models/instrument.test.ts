import { expect, test } from 'vitest'
import type { Model } from '../../src/contracts/model.ts'
import { instrument } from '../../src/models/instrument.ts'
import { scriptedModel } from '../../src/models/scripted.ts'
import { start } from './fixtures.ts'

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve))

test('a call passes K06 before its first token, K07 after it and K08 at its end', async () => {
  const story: string[] = []
  const model = instrument(scriptedModel([{ text: 'one two' }]), { hit: (name) => void story.push(name) })

  await start(model, undefined, ({ text }) => story.push(text)).response

  expect(story).toEqual(['K06', 'one ', 'K07', 'two', 'K08'])
})

test('K08 comes without K07 when there is nothing to stream', async () => {
  const story: string[] = []
  const model = instrument(scriptedModel([{ calls: [{ name: 'now' }] }]), { hit: (name) => void story.push(name) })

  await start(model).response

  expect(story).toEqual(['K06', 'K08'])
})

test.each([
  ['K06', []],
  ['K07', ['one ']],
  ['K08', ['one ', 'two']],
])('a fail point that holds at %s holds back what comes after it', async (held, shown) => {
  const gate = Promise.withResolvers<void>()
  const model = instrument(scriptedModel([{ text: 'one two' }]), { hit: (name) => (name === held ? gate.promise : undefined) })
  let isDone = false
  const call = start(model)
  void call.response.then(() => (isDone = true))

  await turnOfTheLoop()
  expect(call.deltas.map(({ text }) => text)).toEqual(shown)
  expect(isDone).toBe(false)
  gate.resolve()

  expect((await call.response).text).toBe('one two')
  expect(call.deltas.map(({ text }) => text)).toEqual(['one ', 'two'])
})

test.each(['K06', 'K07', 'K08'])('a fail point that fails at %s fails the call', async (failing) => {
  const model = instrument(scriptedModel([{ text: 'one two' }]), {
    hit: (name) => (name === failing ? Promise.reject(new Error(`killed at ${name}`)) : undefined),
  })

  await expect(start(model).response).rejects.toThrow(`killed at ${failing}`)
})

test('a model that answers at once streams nothing before K06', async () => {
  const story: string[] = []
  const calm = scriptedModel([{}])
  const hasty: Model = {
    ref: 'custom/hasty',
    call: (request, options) => {
      options.onDelta({ kind: 'text', text: 'hasty' })
      return calm.call(request, options)
    },
  }
  const model = instrument(hasty, { hit: (name) => void story.push(name) })

  await start(model, undefined, ({ text }) => story.push(text)).response

  expect(story).toEqual(['K06', 'hasty', 'K07', 'K08'])
})
