/** An agent that looks around by itself: when it does, who hears of it, and that nobody is disturbed for nothing. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../src/contracts/model.ts'
import { agent } from '../../src/index.ts'
import { type ScriptedResponse, testRuntime } from '../../src/testing/index.ts'
import type { Story } from '../runtime/harness.ts'
import { ann, askToEnd, eventsOf, expectReplay, newestText, restart, type Staged, since, staged, words } from './stage.ts'

const minutes = 60_000
const halfAnHour = 30 * minutes
const isHeartbeat = (request: ModelRequest): boolean => newestText(request).includes('heartbeat')

type Watch = Story & { requests: ModelRequest[]; asked: number[]; beats: string[] }
/** An agent that looks around; each time it answers with the next of these, and after them with the last one. */
const watch = async (
  answers: (ScriptedResponse | string)[] = ['HEARTBEAT_OK'],
  { heartbeat = {}, ...options }: Staged = {},
  talk: (request: ModelRequest) => ScriptedResponse = () => ({ text: 'hello' }),
): Promise<Watch> => {
  const requests: ModelRequest[] = []
  const times: number[] = []
  const script = (request: ModelRequest): ScriptedResponse => {
    if (!isHeartbeat(request)) return talk(request)
    requests.push(request)
    times.push(since(told))
    const given = answers[Math.min(heartbeats(request), answers.length) - 1] ?? ''
    return typeof given === 'string' ? { text: given } : given
  }
  const told: Story = await staged(script, { heartbeat, ...options })
  return Object.defineProperty(Object.assign(told, { requests, asked: times }), 'beats', { get: () => beatsOf(told) }) as Watch
}
/** Heartbeats in a conversation so far. */
const heartbeats = ({ messages }: Pick<ModelRequest, 'messages'>): number =>
  messages.filter((message) => message.role === 'user' && message.text.includes('heartbeat')).length
/** What each came to. */
const beatsOf = (told: Story): string[] =>
  told.events('main', 'heartbeat').flatMap((event) => {
    const { type, status, reason } = event as { type: string; status?: string; reason?: string }
    return type === 'heartbeat' ? [reason ?? status ?? ''] : []
  })
const sent = (told: Story): string[] => told.channel.sends.flatMap(({ outcome, payload }) => (outcome === 'sent' ? [payload.text ?? ''] : []))
const alert = 'The heartbeat found that the cellar is under water.'
const wake = (told: Story) => told.clock.until(told.runtime.actor('heartbeat', 'main').send({ type: 'wake' }))

test('[OC-105] when a runtime begins for the first time there is none yet', async () => {
  await using told = await staged(() => ({ text: alert }), { heartbeat: {} })
  await told.clock.advance(halfAnHour - 1)

  expect(eventsOf(told, 'started')).toEqual([])
})

describe('what it says', () => {
  /** An acknowledgement, an alert, and acknowledgements again; it may die while the alert is thought of. */
  const story = async (crash: string) => {
    const told = await watch(['HEARTBEAT_OK', { text: alert, delayMs: 2000 }, 'HEARTBEAT_OK'])
    await askToEnd(told, 'hi', ann('a'))
    const { updatedAt } = (await told.main.view()).record
    await told.clock.advance(halfAnHour - since(told) - 1)
    expect(told.asked).toEqual([])
    await told.clock.advance(1)
    expect(told.asked).toEqual([halfAnHour])
    expect(sent(told)).toEqual(['hello'])

    await told.clock.advance(halfAnHour + 1000)
    expect(told.asked).toHaveLength(2)
    if (crash) await restart(told)
    await told.clock.advance(10_000)
    await told.clock.advance(40 * minutes)

    expect(sent(told)).toEqual(['hello', alert])
    expect(told.channel.sends.at(-1)?.route).toEqual({ channel: 'test', to: 'ann' })
    // Nobody has written since.
    expect((await told.main.view()).record.updatedAt).toBe(updatedAt)
    await expectReplay(told)
    expect(await told.runtime.replay({ kind: 'heartbeat', id: 'main' })).toMatchObject({ verdict: 'identical' })
    return told
  }
  test('[OC-105] every half hour; an acknowledgement is silence, an alert is one message', async () => {
    await using _ = await story('')
  })
  test('[OC-105] the same where the process dies while the agent looks around', async () => {
    await using _ = await story('yes')
  })

  test('[OC-105] a process that dies while the alert is on its way: it arrives, under one key', async () => {
    await using told = await watch([alert, 'HEARTBEAT_OK'])
    await askToEnd(told, 'hi', ann('a'))
    told.channel.hang(1)
    await told.clock.advance(halfAnHour + 100)
    await restart(told)
    await told.clock.advance(10_000)

    expect(sent(told)).toEqual(['hello', alert])
    expect(new Set(told.channel.sends.slice(1).map(({ key }) => key)).size).toBe(1)
  })

  test('[OC-105] a process that dies between two of them goes on with the next', async () => {
    await using told = await watch([alert, 'HEARTBEAT_OK'])
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour + 10 * minutes)
    await restart(told)
    await told.clock.advance(20 * minutes + 1000)

    expect(told.asked).toHaveLength(2)
    expect(sent(told)).toEqual(['hello', alert])
  })

  test.each([`HEARTBEAT_OK ${words(300)}`, ''])('[OC-105] of %j nothing is sent', async (answer) => {
    await using told = await watch([answer])
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour + 1000)

    expect(told.asked).toHaveLength(1)
    expect(sent(told)).toEqual(['hello'])
  })

  test('[OC-105] it has a model and words of its own; nobody types, and no notes are taken', async () => {
    const light: ModelRequest[] = []
    await using told = await watch(
      [],
      {
        heartbeat: { everyMs: 10 * minutes, model: 'light/x', prompt: 'a heartbeat: look into the cellar' },
        models: {
          'light/x': (request) => {
            light.push(request)
            return { text: 'The cellar is wet.', usage: { inputTokens: 100, outputTokens: 10 } }
          },
        },
        memoryFlush: {},
        usage: 'tokens',
      },
      () => ({ text: 'hello', usage: { inputTokens: 176_000, outputTokens: 0 } }),
    )
    await askToEnd(told, 'hi', ann('a'))
    const typed = told.channel.typed.length
    const before = (await told.main.view()).record.spent.usage
    light.length = 0
    await told.clock.advance(10 * minutes)

    expect(light.map(newestText)).toEqual(['a heartbeat: look into the cellar'])
    expect(told.channel.typed).toHaveLength(typed)
    expect(eventsOf(told, 'flushed')).toEqual([])
    expect(sent(told).at(-1)).toMatch(/^The cellar is wet\./)
    expect(eventsOf(told, 'usage').at(-1)).toMatchObject({ model: 'light/x', usage: { input: 100, output: 10 } })
    expect((await told.main.view()).record.spent.usage).toMatchObject({
      inputTokens: before.inputTokens + 100,
      outputTokens: before.outputTokens + 10,
    })
  })

  test('[OC-105] one that fails is told to nobody, and the next one comes', async () => {
    await using told = await watch([{ error: { status: 401 } }, alert])
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour + 1000)
    expect(sent(told)).toEqual(['hello'])
    expect(told.beats).toEqual(['failed'])
    await told.clock.advance(halfAnHour + 1000)

    expect(sent(told)).toEqual(['hello', alert])
  })
})

describe('when it is due', () => {
  /** The session is at work when one is due; ms from its end to the moment at which the agent is asked. */
  const delayed = async (crash: string): Promise<number> => {
    await using told = await watch(['HEARTBEAT_OK'], {}, () => ({ text: 'hello', delayMs: 1500 }))
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour - since(told) - 500)
    await told.say('and?', ann('b'))
    await told.clock.advance(600)
    expect(told.beats).toEqual(['requests-in-flight'])
    expect(told.asked).toEqual([])
    if (crash) await restart(told)
    await told.clock.until(() => eventsOf(told, 'final').filter(({ ids }) => ids.includes('b')).length === 1)
    const free = since(told)
    await told.clock.advance(5000)
    expect(told.asked).toHaveLength(1)
    expect((told.asked[0] ?? 0) - free).toBeGreaterThanOrEqual(0)
    return (told.asked[0] ?? 0) - free
  }
  test('[OC-106] while the session is at work it is skipped, with the reason, and comes a second after that', async () => {
    expect(await delayed('')).toBeLessThanOrEqual(1000)
  })
  test('[OC-106] the same over a crash', async () => {
    expect(await delayed('yes')).toBeLessThanOrEqual(1000)
  })

  test.each([
    ['outside of its hours', { activeHours: { start: '09:00', end: '17:00' } }, 'quiet-hours'],
    ['where nothing of it could be seen', { visibility: { showOk: false, showAlerts: false, indicator: false } }, 'nothing-visible'],
  ] as const)('[OC-106] at 8:35, %s', async (_, heartbeat, reason) => {
    await using told = await watch(['HEARTBEAT_OK'], { heartbeat })
    await told.clock.advance(halfAnHour + 1000)

    expect(told.beats).toEqual([reason])
    expect(told.asked).toEqual([])
  })

  test.each([
    ['names nothing to do', '# Checklist\n\n- [ ]\n', 'empty-checklist'],
    ['names something', '# Checklist\n- [ ] water the roses\n', undefined],
    ['is not there', undefined, undefined],
  ])('[OC-106] with a checklist that %s', async (_, text, reason) => {
    const workspace = await mkdtemp(join(tmpdir(), 'heartbeat-'))
    if (text !== undefined) await writeFile(join(workspace, 'HEARTBEAT.md'), text)
    await using told = await watch(['HEARTBEAT_OK'], { heartbeat: { checklist: 'HEARTBEAT.md' }, runtime: { workspace } })
    await told.clock.advance(halfAnHour)
    // The disk knows nothing of virtual time: there may be another one before the file is read.
    await told.clock.until(() => told.beats.length > 0)
    await rm(workspace, { recursive: true })

    expect(new Set(told.beats)).toEqual(new Set([reason ?? 'ok']))
  })

  test('[OC-106] of an agent that has none any more it is skipped as disabled', async () => {
    await using told = await watch()
    await told.clock.advance(1000)
    await told.crash()
    await told.restart({ agents: [agent({ name: 'main', model: 'test/model' })], chatAgents: {} })
    await told.clock.advance(1000)
    await told.clock.advance(halfAnHour)

    expect(told.beats).toEqual(['disabled'])
    expect(told.asked).toEqual([])
  })

  test('[OC-106] requests within 250 ms are one; a later one is another', async () => {
    await using told = await watch()
    const began = since(told)
    for (const ms of [0, 100, 140]) {
      await told.clock.advance(ms)
      await wake(told)
    }
    await told.clock.advance(9)
    expect(told.asked).toEqual([])
    await told.clock.advance(100)
    expect(told.asked.map((at) => at - began)).toEqual([250])

    await told.clock.advance(1000)
    await wake(told)
    await told.clock.advance(300)
    expect(told.asked).toHaveLength(2)
  })

  test('[OC-106] only agents that are to have one have one', async () => {
    const seen: string[] = []
    const listener = (name: string) => ({
      [`test/${name}`]: (request: ModelRequest) => {
        seen.push(`${name}: ${newestText(request)}`)
        return { text: 'HEARTBEAT_OK' }
      },
    })
    const prompt = 'a heartbeat'
    await using told = await staged([], {
      runtime: {
        agents: [
          agent({ name: 'main', model: 'test/main' }),
          agent({ name: 'night', model: 'test/night' }),
          agent({ name: 'noon', model: 'test/noon' }),
        ],
        chatAgents: { night: { heartbeat: { prompt, session: 'watch' } }, noon: { heartbeat: { prompt, everyMs: 20 * minutes } } },
      },
      models: { ...listener('main'), ...listener('night'), ...listener('noon') },
    })
    await told.clock.advance(0)
    await told.clock.settle()
    seen.length = 0
    await told.clock.advance(halfAnHour + 1000)

    expect(seen).toEqual(['noon: a heartbeat', 'night: a heartbeat'])
    const keys = (key: string) => eventsOf(told, 'started', key).map(({ ids: [id = ''] }) => id.replace(/-\d+$/, ''))
    expect(new Set(keys('watch'))).toEqual(new Set(['heartbeat-night']))
    expect(new Set(keys('main'))).toEqual(new Set(['heartbeat-noon']))
  })
})

describe('who hears of it', () => {
  test('[OC-107] the same alert twice in an hour is delivered once, also over a crash; another one, or the same a day later, again', async () => {
    await using told = await watch([
      ...Array<string>(2).fill(alert),
      'Now the heartbeat found that the attic burns.',
      ...Array<string>(60).fill(alert),
    ])
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour + 1000)
    await restart(told)
    await told.clock.advance(halfAnHour)
    expect(sent(told)).toEqual(['hello', alert])
    expect(told.beats).toEqual(['told', 'repeated'])

    await told.clock.advance(2 * halfAnHour)
    expect(sent(told).slice(2)).toEqual(['Now the heartbeat found that the attic burns.', alert])
    await told.clock.advance(24 * 60 * minutes - halfAnHour)
    expect(sent(told).slice(4)).toEqual([])
    await told.clock.advance(2 * halfAnHour)
    expect(sent(told).slice(4)).toEqual([alert])
  })

  test.each([
    ['to where the last message came from', {}, { channel: 'test', to: 'bea', thread: 't' }],
    ['to a place', { target: { channel: 'test', to: 'cid' } }, { channel: 'test', to: 'cid' }],
    ['nowhere', { target: 'none' }, undefined],
    ['nowhere, where no alert is wanted', { visibility: { showAlerts: false } }, undefined],
  ] as const)('[OC-107] an alert goes %s', async (_, heartbeat, route) => {
    await using told = await watch([alert], { heartbeat })
    await askToEnd(told, 'hi', ann('a'))
    await askToEnd(told, 'hi', ann('b', { to: 'bea', thread: 't' }))
    await told.clock.advance(halfAnHour + 1000)

    expect(told.channel.sends.slice(2).map((send) => send.route)).toEqual(route ? [route] : [])
    expect(told.beats).toEqual([route ? 'told' : 'untold'])
  })

  test('[OC-107] where nobody has ever written there is nowhere to send it', async () => {
    await using told = await watch([alert])
    await told.clock.advance(halfAnHour + 1000)

    expect(told.channel.sends).toEqual([])
    expect(told.beats).toEqual(['untold'])
  })

  test('[OC-107] a channel that cannot deliver now gets nothing', async () => {
    await using told = await watch([alert], { channel: { heartbeatReady: () => false } })
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour + 1000)

    expect(sent(told)).toEqual(['hello'])
  })

  test('[OC-107] where it is wanted, that all is well is told, too', async () => {
    await using told = await watch(['HEARTBEAT_OK'], { heartbeat: { visibility: { showOk: true } } })
    await askToEnd(told, 'hi', ann('a'))
    await told.clock.advance(halfAnHour + 1000)

    expect(sent(told)).toEqual(['hello', expect.stringContaining('HEARTBEAT_OK')])
  })

  test.each([
    ['its channel', { heartbeat: { showAlerts: false } }, 0],
    ['one of its accounts', { heartbeat: { showAlerts: false, accounts: { work: { showAlerts: true } } } }, 1],
    ['another account', { heartbeat: { accounts: { home: { showAlerts: false } } } }, 1],
  ])('[OC-107] what is seen of it is as the agent says, unless %s says otherwise', async (_, channel, count) => {
    await using told = await watch([alert], { channel })
    await askToEnd(told, 'hi', ann('a', { account: 'work' }))
    await told.clock.advance(halfAnHour + 1000)

    expect(sent(told).slice(1)).toHaveLength(count)
  })

  test('[OC-107] an alert that did not arrive is no repetition when it comes again', async () => {
    await using told = await watch([alert])
    await askToEnd(told, 'hi', ann('a'))
    told.channel.fail(1)
    await told.clock.advance(halfAnHour + 1000)
    expect(sent(told)).toEqual(['hello'])
    await told.clock.advance(halfAnHour + 1000)

    expect(sent(told)).toEqual(['hello', alert])
  })

  test('[OC-107, OC-31] it does not keep a conversation alive', async () => {
    await using told = await watch(['HEARTBEAT_OK'], { freshness: { mode: 'idle', idleMinutes: 60 } })
    await askToEnd(told, 'hi', ann('a'))
    const { sessionId } = (await told.main.view()).record
    await told.clock.advance(90 * minutes)
    expect(told.asked).toHaveLength(3)
    await askToEnd(told, 'still there?', ann('b'))

    expect((await told.main.view()).record.sessionId).not.toBe(sessionId)
  })
})

test.each([
  [9 * minutes, 'warm'],
  [11 * minutes, 'expired'],
])('[CH-92] with a cache of ten minutes a heartbeat each %i ms leaves it %s for who comes back after 54 minutes', async (everyMs, cache) => {
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 'test/model', context: { cacheMs: 10 * minutes } })],
    chatAgents: { main: { heartbeat: { everyMs } } },
    models: { 'test/model': (request: ModelRequest) => ({ text: isHeartbeat(request) ? 'HEARTBEAT_OK' : 'hello' }) },
  })
  const say = async (text: string) => kit.clock.until((await kit.clock.until(kit.session('main').send(text))).result())
  await say('good morning')

  await kit.clock.advance(54 * minutes + 30_000)

  expect(await say('I am back')).toMatchObject({ text: 'hello', cache })
})
