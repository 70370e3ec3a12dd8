/** What users may choose with /model, and a thread that begins where its parent is (OC-37, OC-100). */
import { expect, test } from 'vitest'
import { agent } from '../../src/index.ts'
import { story } from '../runtime/harness.ts'
import { ann, ask, notices, toggles } from './stage.ts'

const models = { 'test/model': () => ({ text: 'usual' }), 'test/fast': () => ({ text: 'fast' }), 'test/secret': () => ({ text: 'secret' }) }

test('[OC-100] by alias; what is not allowed is refused, and nothing changes', async () => {
  await using told = await story([], { choice: { allowed: ['test/fast'], aliases: { quick: 'test/fast' } }, runtime: { models } })
  const said = async (text: string, id: string) => (await told.clock.until((await told.say(text, ann(id))).result())).text

  expect(await said('/model secret', '1')).toContain('may not be chosen')
  expect(await said('hi', '2')).toBe('usual')
  expect(await said('/model quick', '3')).toBe('Model: test/fast.')
  expect(await said('hi', '4')).toBe('fast')
  // The next prompt tells the model of it, and the default is always there.
  expect((await told.transcript()).join('\n')).toContain('user: hi')
  expect(await said('/model default', '5')).toBe('Model: test/model (default).')
  expect(await said('hi', '6')).toBe('usual')
})

test.each(['/model list', '/models', '/Model LIST'])('[OC-100] %s lists the models by the numbers that /model takes', async (order) => {
  await using told = await story([], { choice: { allowed: ['test/fast'], aliases: { quick: 'test/fast' } }, runtime: { models } })

  expect((await ask(told, order, ann('1'))).text).toBe(
    ['Model: test/model.', 'Choose with /model and a number or a name:', '1. test/fast (quick)', '2. test/model (default)'].join('\n'),
  )
  expect((await ask(told, '/model 1', ann('2'))).text).toBe('Model: test/fast.')
  expect((await ask(told, order, ann('3'))).text).toMatch(/^Model: test\/fast \(default: test\/model\)\.\n/)
  expect(await toggles(told)).toEqual({ model: 'test/fast' })
})

test('[OC-100] /model status names endpoints and where credentials come from, and shows none of them', async () => {
  const credentials = { anthropic: [{ id: 'work', type: 'key', value: 'sk-ant-THISMUSTNOTBESHOWN' }] } as const
  const choice = { allowed: ['anthropic/claude-test'] }
  await using told = await story([], { choice, runtime: { models, credentials } })

  expect((await ask(told, '/model status', ann('1'))).text).toBe(
    ['Model: test/model.', 'test/model: in this app', "anthropic/claude-test: https://api.anthropic.com/v1, key 'work' from the app"].join('\n'),
  )
  expect(await toggles(told)).toEqual({})
})

test('[OC-100] within a message a list is a notice, and the rest is for the model that is set', async () => {
  await using told = await story([], { runtime: { models } })

  expect((await ask(told, '/model list and now?', ann('1'))).text).toBe('usual')
  expect(notices(told).join()).toContain('1. test/model (default)')
})

test('[OC-100] a model that is called like a report is chosen by its name', async () => {
  await using told = await story([], { runtime: { models: { ...models, 'own/list': () => ({ text: 'listed' }) } } })

  expect((await ask(told, '/model list', ann('1'))).text).toBe('Model: own/list.')
})

test('[OC-100] a stranger gets no list', async () => {
  await using told = await story([], { runtime: { models } })

  expect((await ask(told, '/models', ann('1', { authorised: false }))).text ?? '').not.toContain('test/fast')
})

test('a choice that names no model is refused where it is written', () => {
  expect(() => agent({ name: 'main', choice: { aliases: { quick: 'fast' } } })).toThrow(
    expect.objectContaining({ code: 'bad_request', field: 'choice.aliases.quick' }),
  )
})

test('[OC-37] the first message of a thread is shown with what its parent said, which stays as it was; also over a crash', async () => {
  const asked: string[][] = []
  await using told = await story([], {
    runtime: {
      models: {
        'test/model': ({ messages }) => {
          asked.push(messages.map((message) => ('text' in message ? message.text : '')))
          return { text: `saw ${messages.length}` }
        },
      },
    },
  })
  await told.clock.until((await told.say('one')).result())
  await told.clock.until((await told.say('two')).result())
  const thread = told.session('thread')
  await told.clock.until(thread.send('and here?', { parent: 'main', idempotencyKey: 't' }))
  await told.crash()
  await told.restart()
  const answer = await told.clock.until(told.session('thread').wait('t'))

  expect(answer.text).toBe('saw 5')
  expect(asked.at(-1)).toEqual(['one', 'saw 1', 'two', 'saw 3', 'and here?'])
  expect(await told.transcript()).toHaveLength(4)
  // A parent that nobody knows is none.
  await told.clock.until((await told.clock.until(told.session('orphan').send('hi', { parent: 'nobody' }))).result())
  expect(asked.at(-1)).toEqual(['hi'])
})

test.each(['/think high', '/status', '/stop'])(
  '[OC-37] a thread whose first words are %s begins with what its parent said all the same',
  async (order) => {
    const asked: string[][] = []
    const model = ({ messages }: { messages: { role: string }[] }) => {
      asked.push(messages.map((message) => ('text' in message ? String(message.text) : '')))
      return { text: 'ok' }
    }
    await using told = await story([], { runtime: { models: { 'test/model': model } } })
    await told.clock.until((await told.say('one')).result())
    const thread = told.session('thread')
    await told.clock.until(thread.send(order, { parent: 'main', ...ann('o') }))
    await told.clock.settle()
    await told.clock.until((await told.clock.until(thread.send('and here?', { parent: 'main', ...ann('t') }))).result())

    expect(asked.at(-1)).toEqual(['one', 'ok', 'and here?'])
  },
)
