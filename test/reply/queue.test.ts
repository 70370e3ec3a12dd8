/** What becomes of messages that come in while a turn is running: how they are wished for, and how they join it. */
import { expect, test } from 'vitest'
import type { QueueMode } from '../../src/contracts/settings.ts'
import { expectEndedOnce, expectNothingAlive, expectPaired, outcomes, story, work } from '../runtime/harness.ts'
import { ann, ask, channels, crashes, eventsOf, expectReplay, listener, restart, startOf, toggles, tools, turns } from './stage.ts'

test.each<[string, QueueMode]>([
  ['abort', 'interrupt'],
  ['  STEER+Backlog  ', 'steer-backlog'],
])('[OC-07] the queue mode %j is %s, also after a crash', async (alias, mode) => {
  await using told = await story(listener().script)

  expect((await ask(told, `/queue ${alias}`, ann('a'))).text).toBe(`Queue: ${mode}.`)
  await restart(told)

  expect(await toggles(told)).toEqual({ queueMode: mode })
})

test('[OC-07] nonsense is no queue mode: nothing is kept, and the default holds', async () => {
  await using told = await story(listener().script)

  expect((await ask(told, '/queue nonsense', ann('a'))).text).toMatch(/^Queue: 'nonsense' is not an option; .* Unchanged: steer,/)

  expect(await toggles(told)).toEqual({})
  await told.say('go', ann('b'))
  expect(await told.say('more', ann('c'))).toMatchObject({ status: 'steered' })
})

test('[OC-08] the mode: of the message, else of the session, else of the agent, else the default', async () => {
  const statusOf = async (queueMode: QueueMode | undefined, session: string | undefined, text: string) => {
    await using told = await story(listener().script, queueMode ? { queueMode } : {})
    if (session) await ask(told, session, ann('session'))
    await told.say('go', ann('a'))
    const { status } = await told.say(text, ann('b'))
    await told.quiet()
    return `${status} ${outcomes(told.events('main')).a}`
  }

  expect(await statusOf('followup', '/queue collect', 'x /queue:interrupt')).toBe('queued aborted')
  expect(await statusOf('followup', '/queue collect', 'x')).toBe('collected final')
  expect(await statusOf('followup', undefined, 'x')).toBe('queued final')
  expect(await statusOf(undefined, undefined, 'x')).toBe('steered final')
})

test('[OC-08] the debounce: of the message, else of the session, else of the agent, else 500 ms', async () => {
  const waitOf = async (debounceMs: number | undefined, session: string | undefined, text: string) => {
    await using told = await story(listener().script, { queueMode: 'followup', ...(debounceMs === undefined ? {} : { debounceMs }) })
    if (session) await ask(told, session, ann('session'))
    await told.say('go', ann('a'))
    await told.say(text, ann('b'))
    const said = told.clock.now()
    return (await startOf(told, 'b')) - said
  }

  expect(await waitOf(3000, '/queue debounce:2s', 'x /queue:debounce:1s')).toBe(1000)
  expect(await waitOf(3000, '/queue debounce:2s', 'x')).toBe(2000)
  expect(await waitOf(3000, undefined, 'x')).toBe(3000)
  expect(await waitOf(undefined, undefined, 'x')).toBe(500)
  // Nothing to wait for but the end of the turn.
  expect(await waitOf(0, undefined, 'x')).toBe(100)
})

test('[OC-08] cap and policy: of the message, else of the session, else of the agent', async () => {
  const leftOf = async (queueCap: number, session: string | undefined, last: string) => {
    await using told = await story(listener().script, { queueMode: 'followup', queueCap, queueDrop: 'old' })
    if (session) await ask(told, session, ann('session'))
    await told.say('go', ann('a'))
    for (const id of ['b', 'c', 'd', 'e']) await told.say(id, ann(id)).catch(() => undefined)
    const refused = await told.say(last, ann('f')).then(
      () => '',
      ({ code }) => ` ${code}`,
    )
    return (await told.main.view()).queued.join('') + refused
  }

  expect(await leftOf(3, '/queue cap:2', 'x /queue:cap:1')).toBe('f')
  expect(await leftOf(3, '/queue cap:2', 'x')).toBe('ef')
  expect(await leftOf(3, undefined, 'x')).toBe('def')
  expect(await leftOf(3, '/queue cap:2', 'x /queue:drop:new')).toBe('de overloaded')
  expect(await leftOf(3, '/queue cap:2 drop:new', 'x')).toBe('bc overloaded')
  // A cap below one asks for nothing.
  expect(await leftOf(3, '/queue cap:0', 'x')).toBe('def')
})

test('[OC-08, OC-16] where nobody says otherwise, 20 messages of users wait, and older ones are told in short', async () => {
  await using told = await story(listener().script, { queueMode: 'followup' })
  await told.say('go', ann('a'))

  for (let n = 1; n <= 25; n++) await told.say(`m${n}`, ann(`m${n}`))

  expect((await told.main.view()).queued).toHaveLength(20)
  await startOf(told, 'm6')
  expect((await told.transcript()).at(-1)).toContain('5 messages were left out')
})

test('[OC-08] a channel says how long its messages wait for more', async () => {
  await using told = await story(listener().script, {
    queueMode: 'followup',
    runtime: { channels: channels({ id: 'test', queueDebounceMs: 1500 }) },
  })
  await told.say('go', ann('a'))
  await told.say('x', ann('b'))
  const said = told.clock.now()

  expect((await startOf(told, 'b')) - said).toBe(1500)
})

test.each(['', ' after a crash'])(
  '[OC-09, OC-31] a message joins the run that is streaming%s: its next call has it, and it shows that the conversation is alive',
  async (crash) => {
    const { asked, script } = listener()
    await using told = await story(script)
    await told.say('cats', ann('a'))
    await told.clock.advance(40)
    const { updatedAt } = (await told.main.view()).record

    const steer = await told.say('dogs, I mean', ann('b'))
    expect((await told.main.view()).record.updatedAt).toBe(updatedAt + 40)
    if (crash) await restart(told)
    await told.quiet()

    expect(steer).toMatchObject({ status: 'steered', runId: 'a' })
    expect(asked.at(-1)?.messages.map((message) => 'text' in message && message.text)).toEqual(['cats', 're: cats', 'dogs, I mean'])
    expect(turns(told)).toEqual(['a'])
    expect(eventsOf(told, 'final')).toMatchObject([{ ids: ['a', 'b'], text: 're: dogs, I mean' }])
    expect((await told.main.view()).record.updatedAt).toBe(updatedAt + 40)
    await expectEndedOnce(told)
  },
)

test('[OC-10] of three calls one after the other, those after a steer are skipped; every call has one result, and the steers are next, in order', async () => {
  await using told = await story([{ calls: [work('x', 100), work('y', 100), work('z', 100)] }, { text: 'fine' }], {
    tools,
    toolExecution: 'sequential',
  })
  await told.say('do x, y and z', ann('a'))
  await told.clock.advance(50)
  await told.say('enough', ann('b'))
  await told.say('really', ann('c'))

  await told.quiet()

  expect(told.did).toEqual(['x starts', 'x ends'])
  expect((await told.transcript()).slice(2)).toEqual([
    'tool work: "x done"',
    'tool work: ! tool_skipped',
    'tool work: ! tool_skipped',
    'user: enough',
    'user: really',
    'assistant: fine',
  ])
  expectPaired(await told.main.history())
})

test('[OC-12, OC-45] while a run compacts, a steer waits: it is queued, not lost, and not answered at the same time', async () => {
  const long = 'x'.repeat(200)
  const { script } = listener(({ instructions, messages }) => {
    if (instructions.startsWith('You shorten')) return { text: 'SUMMARY' }
    return messages.length > 4 ? { error: { code: 'provider_overflow' }, delayMs: 0 } : { text: `saw ${messages.length}`, delayMs: 0 }
  })
  await using told = await story(script)
  await ask(told, `1 ${long}`, ann('1'))
  await ask(told, `2 ${long}`, ann('2'))
  await told.say(`3 ${long}`, ann('3'))
  await told.clock.advance(50)
  expect((await told.main.view()).state).toEqual({ running: 'compacting' })

  const waits = await told.say('and this', ann('4'))
  await told.quiet()

  expect(waits.status).toBe('queued')
  expect(turns(told)).toEqual(['1', '2', '3', '4'])
  expect(outcomes(told.events('main'))).toEqual({ 1: 'final', 2: 'final', 3: 'final', 4: 'final' })
})

test('[OC-12] where no run is active, a message has its turn at once, whatever its mode', async () => {
  for (const queueMode of ['steer', 'followup', 'collect', 'steer-backlog', 'interrupt'] as const) {
    await using told = await story(listener().script, { queueMode })
    expect(await told.say('go', ann('a'))).toMatchObject({ status: 'started', runId: 'a' })
  }
})

test('[OC-13, OC-31] what joins and what waits is taken in in the same way: accepted, noted, alive', async () => {
  const tailOf = async (queueMode: QueueMode) => {
    await using told = await story(listener().script)
    await told.say('go', ann('a'))
    await told.clock.advance(40)
    const { updatedAt } = (await told.main.view()).record
    const known = told.events('main').length
    await told.say('more', { ...ann('b'), queueMode })
    const { record } = await told.main.view()
    return {
      said: told
        .events('main')
        .slice(known)
        .map(({ type }) => type),
      moved: record.updatedAt - updatedAt,
      seen: record.seen.length,
    }
  }

  expect(await tailOf('steer')).toEqual({ said: ['accepted'], moved: 40, seen: 2 })
  expect(await tailOf('followup')).toEqual(await tailOf('steer'))
})

test.each(crashes)('[OC-14] interrupt: the run is stopped, the two that wait are dropped, and only the newest is answered%s', async (crash) => {
  const { asked, script } = listener()
  await using told = await story(script, { queueMode: 'followup' })
  for (const id of ['a', 'b', 'c']) await told.say(id, ann(id))
  await told.clock.advance(40)

  const newestOne = await told.say('d', { ...ann('d'), queueMode: 'interrupt' })
  if (crash) await restart(told)
  await told.clock.settle()

  expect(newestOne.status).toBe('queued')
  expect((await told.main.view()).queued.filter((id) => id !== 'd')).toEqual([])
  await told.quiet()
  expect(outcomes(told.events('main'))).toEqual({ a: 'aborted', b: 'aborted', c: 'aborted', d: 'final' })
  expect(turns(told)).toEqual(['a', 'd'])
  expect(asked.flatMap(({ messages }) => messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])))).not.toContain('b')
  await expectEndedOnce(told)
  await expectReplay(told)
  await expectNothingAlive(told)
})

test('[OC-23] one run at a time in a session, and the messages in the order in which they came', async () => {
  let running = 0
  let most = 0
  await using told = await story(
    async () => {
      most = Math.max(most, ++running)
      await told.clock.until(new Promise((resolve) => told.clock.setTimeout(() => resolve(undefined), 50)))
      running--
      return { text: 'ok' }
    },
    { queueMode: 'followup', debounceMs: 0 },
  )
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => told.main.send(id, ann(id))))

  await told.quiet()

  expect(most).toBe(1)
  expect(turns(told)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('[OC-23] six sessions run at the same time: without a configured limit none waits for another', async () => {
  await using told = await story(listener().script)
  const keys = ['1', '2', '3', '4', '5', '6']
  await Promise.all(keys.map((key) => told.session(key).send('go')))
  await told.clock.advance(50)

  expect(await Promise.all(keys.map(async (key) => (await told.session(key).view()).state))).toEqual(keys.map(() => ({ running: 'answering' })))
})
