/** What becomes of a request whose client comes again, goes away, or cannot be asked. */
import { expect, test, vi } from 'vitest'
import { Errands } from '../../../src/api/openai/errands.ts'
import type { Session } from '../../../src/index.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { story, work, worker } from '../../runtime/harness.ts'
import { all, anOpenAiGateway } from './harness.ts'

const user = (content: string) => [{ role: 'user' as const, content }]
const keyed = { headers: { 'Idempotency-Key': 'k1' } }

test('a request that is repeated with its key runs no second turn and has the same answer', async () => {
  const { client, prompts, keys } = await anOpenAiGateway()
  const ask = () => client().chat.completions.create({ model: 'main', messages: user('hi') }, keyed)

  const [one, two] = await Promise.all([ask(), ask()])
  const later = await all(await client().chat.completions.create({ model: 'main', messages: user('hi'), stream: true }, keyed))

  expect(prompts).toHaveLength(1)
  expect([two.id, two.choices]).toEqual([one.id, one.choices])
  expect(later.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('echo hi')
  expect(await keys()).toHaveLength(1)
})

test('a repetition that comes in the middle of the answer gets all of it', async () => {
  const { client, prompts } = await anOpenAiGateway()
  const ask = () => client().chat.completions.create({ model: 'main', messages: user('slow'), stream: true }, keyed)

  const first = (await ask())[Symbol.asyncIterator]()
  for (let said = ''; said === ''; ) said = (await first.next()).value.choices[0]?.delta.content ?? ''
  const second = await all(await ask())

  expect(second.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('one word after the other')
  expect(prompts).toHaveLength(1)
})

test('the same key with another message is another request', async () => {
  const { client } = await anOpenAiGateway()

  const one = await client().chat.completions.create({ model: 'main', messages: user('one') }, keyed)
  const two = await client().chat.completions.create({ model: 'main', messages: user('two') }, keyed)

  expect([one, two].map(({ choices }) => choices[0]?.message.content)).toEqual(['echo one', 'echo two'])
})

test('a client whose connection broke repeats the request by itself, and no second turn runs', async () => {
  const { client, prompts, gateway } = await anOpenAiGateway()
  let sent = 0
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (++sent > 1) return response
    await response.text()
    throw new TypeError('the connection broke')
  }

  const completion = await client({ maxRetries: 2, fetch: cutting, baseURL: `${gateway.url}/v1` }).chat.completions.create(
    { model: 'main', messages: user('hi') },
    keyed,
  )

  expect(completion.choices[0]?.message.content).toBe('echo hi')
  expect(sent).toBe(2)
  expect(prompts).toHaveLength(1)
})

test('the session of a request with a key is deleted when nobody can be expected to repeat it any more', async () => {
  const clock = virtualClock()
  const { client, keys } = await anOpenAiGateway({ clock })

  await client().chat.completions.create({ model: 'main', messages: user('hi') }, keyed)
  expect(await keys()).toHaveLength(1)

  await vi.waitFor(async () => {
    await clock.advance(600_000)
    expect(await keys()).toEqual([])
  })
})

test('a client that hangs up in mid-stream stops the turn of a request that stands alone', async () => {
  const { client, runtime, keys } = await anOpenAiGateway()
  const aborted = Promise.withResolvers<void>()

  const stream = await client().chat.completions.create({ model: 'main', messages: user('hang'), stream: true })
  const [key = ''] = await keys()
  const events = runtime.session(key).events()
  void (async () => {
    for await (const event of events) if (event.type === 'aborted') aborted.resolve()
  })()
  for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()

  await aborted.promise
  await vi.waitFor(async () => expect(await keys()).toEqual([]))
})

test('so does one that waits for the whole answer', async () => {
  const { client, keys, prompts } = await anOpenAiGateway()
  const stop = new AbortController()

  const asking = client().chat.completions.create({ model: 'main', messages: user('hang') }, { signal: stop.signal })
  await vi.waitFor(() => expect(prompts).toHaveLength(1))
  stop.abort()

  await expect(asking).rejects.toThrow('aborted')
  await vi.waitFor(async () => expect(await keys()).toEqual([]))
})

test('in a named session the turn goes on when its client hangs up', async () => {
  const { client, runtime, prompts } = await anOpenAiGateway()
  const stream = await client().chat.completions.create(
    { model: 'main', messages: user('hang'), stream: true },
    { headers: { 'x-statecast-session': 'home' } },
  )
  for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()

  // Whatever the end of the connection leads to has happened by the time that another request has its answer.
  await client().chat.completions.create({ model: 'main', messages: user('hi') })
  expect((await runtime.session('home').view()).run).not.toBeNull()
  expect(prompts).toHaveLength(2)
  await runtime.session('home').cancel()
})

test('with a key the turn waits for the repetition when its client hangs up, and is stopped when none comes', async () => {
  const clock = virtualClock()
  const { client, prompts, keys, runtime } = await anOpenAiGateway({ clock })
  const stop = new AbortController()
  const asking = client().chat.completions.create({ model: 'main', messages: user('hang') }, { ...keyed, signal: stop.signal })
  await vi.waitFor(() => expect(prompts).toHaveLength(1))
  const [key = ''] = await keys()
  const runs = async () => (await runtime.session(key).view()).run !== null

  stop.abort()
  await expect(asking).rejects.toThrow('aborted')
  await clock.advance(29_000)
  const again = await client().chat.completions.create({ model: 'main', messages: user('hang'), stream: true }, keyed)
  await clock.advance(60_000)
  expect(await runs()).toBe(true)

  again.controller.abort()
  await vi.waitFor(async () => {
    await clock.advance(5_000)
    expect(await runs()).toBe(false)
  })
  expect(prompts).toHaveLength(1)
})

test('when the node ends, who waits is told that the answer goes on', async () => {
  const { client, gateway } = await anOpenAiGateway()
  const stream = await client().chat.completions.create({ model: 'main', messages: user('hang'), stream: true }, keyed)
  const reading = expect(all(stream)).rejects.toMatchObject({ code: 'closed', message: expect.stringContaining('Idempotency-Key') })

  await gateway.close()

  await reading
})

test('a tool call that waits for a person is refused where nobody could be asked, and the run ends', async () => {
  const { client } = await anOpenAiGateway()

  const completion = await client().chat.completions.create({ model: 'main', messages: user('danger') })

  expect(completion.choices[0]?.message.content).toMatch(/^refused: .*nobody can approve a tool call/)
})

/** A request in virtual time whose agent works for a second before its calls need a person: far from the next look of its errand. */
const anErrand = async (...calls: string[]) => {
  const script = [{ calls: [work('first', 1000)] }, { calls: calls.map((name) => ({ ...work(name), name: 'pay' })) }, { text: 'then not' }]
  const told = await story(script, { tools: (world) => [worker()(world), worker({ name: 'pay', approval: true })(world)] })
  const run = await told.say('go')
  const { clock, runtime } = told
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const errands = new Errands({ runtime: () => runtime, clock, log, closing: new AbortController().signal })
  const begin = (session: Session = told.main) => errands.begin({ session, run, repeatable: false, kept: true })
  return { told, run, begin, since: clock.now() }
}

test('a tool call is refused when it is asked for, and not at the next look', async () => {
  const { told, run, begin, since } = await anErrand('a')
  await using _ = told
  const leave = begin()

  expect((await told.clock.until(run.result())).text).toBe('then not')

  expect(told.clock.now() - since).toBeLessThan(5000)
  expect(told.did).toEqual(['first starts', 'first ends'])
  leave()
})

test('of several calls that wait, one that a person decided meanwhile keeps no other from being refused', async () => {
  const { told, run, begin } = await anErrand('a', 'b')
  await using _ = told
  const { main, clock } = told
  await clock.advance(1000)
  const view = await clock.until(main.view())
  expect(view.approvals).toHaveLength(2)
  await clock.until(main.approve(view.approvals[0]!))
  const since = clock.now()
  // Its first look is a moment old: the decision came in between.
  let looks = 0
  const late = {
    key: main.key,
    view: () => (++looks === 1 ? Promise.resolve(view) : main.view()),
    deny: main.deny.bind(main),
    events: main.events.bind(main),
  } as unknown as Session
  const leave = begin(late)

  expect((await clock.until(run.result())).text).toBe('then not')

  expect(clock.now() - since).toBeLessThan(5000)
  expect(told.did).toEqual(['first starts', 'first ends', 'a starts', 'a ends'])
  leave()
})

test('in a named session it waits, and the answer comes when somebody has decided', async () => {
  const { client, runtime } = await anOpenAiGateway()
  const session = runtime.session('home')

  const asking = client().chat.completions.create({ model: 'main', messages: user('danger') }, { headers: { 'x-statecast-session': 'home' } })
  const approval = await vi.waitFor(async () => {
    const [waiting] = (await session.view()).approvals
    if (!waiting) throw new Error('not yet')
    return waiting
  })
  await session.approve(approval)

  expect((await asking).choices[0]?.message.content).toBe('it is sunny')
})
