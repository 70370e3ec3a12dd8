/**
 * One conversation over a channel with all that an orchestrator does: blocks, tools, a fallback, messages that wait and are collected, one that its channel
 * delivers twice, orders, a stop, usage. The process is killed at every commit of it, and the end has to be the same.
 */
import { describe, expect, test } from 'vitest'
import { isRuntimeError } from '../../src/index.ts'
import { expectEndedOnce, expectNothingAlive, expectPaired, type Story, story, work, worker } from '../runtime/harness.ts'
import { aFate, type Fate } from '../support/fate.ts'

const paragraph = (letter: string) => `${`${letter} `.repeat(60).trim()}.`

/** Answers by what it is told, so that being asked twice makes no difference. */
const begin = () =>
  story([], {
    model: 'test/first',
    fallbacks: ['test/second'],
    delivery: { streaming: true, min: 80, max: 300, coalesce: { minChars: 80, idleMs: 20 } },
    tools: (world) => [worker()(world)],
    runtime: {
      models: {
        'test/first': ({ messages }) => {
          const last = messages.at(-1)
          const text = last?.role === 'user' ? last.text : ''
          return text.includes('elsewhere') ? { error: { status: 429 } } : answerTo(messages)
        },
        'test/second': ({ messages }) => ({ ...answerTo(messages), text: 'from elsewhere', usage: { inputTokens: 50, outputTokens: 5 } }),
      },
    },
  })

const answerTo = (messages: readonly { role: string; text?: string }[]) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: 'done with it', usage: { inputTokens: 200, outputTokens: 10 } }
  const text = last?.text ?? ''
  if (text.includes('work')) return { text: 'let me see', calls: [work('x', 20)], usage: { inputTokens: 100, outputTokens: 10 } }
  if (text.includes('long'))
    return { text: ['a', 'b', 'c'].map(paragraph).join('\n\n'), deltaDelayMs: 1, usage: { inputTokens: 300, outputTokens: 90 } }
  if (text.includes('for ever')) return { text: 'so far', hang: true }
  return { text: `you said ${text.length}`, usage: { inputTokens: 10, outputTokens: 1 } }
}

const ann = { channel: 'test', to: 'ann' }
type OutputEvent = { id: string; text: string; queueMode?: 'followup' | 'collect'; next: 'go on' | 'until quiet' | 'until running' }
const script: OutputEvent[] = [
  { id: '1', text: 'something long', next: 'until running' },
  { id: '2', text: 'one', queueMode: 'collect', next: 'go on' },
  { id: '3', text: 'two', queueMode: 'collect', next: 'until quiet' },
  { id: '4', text: '/usage full', next: 'go on' },
  { id: '5', text: '/think high', next: 'until quiet' },
  { id: '6', text: 'work', next: 'until quiet' },
  { id: '7', text: 'elsewhere', next: 'until quiet' },
  { id: '8', text: 'for ever', next: 'until running' },
  { id: '9', text: 'never answered', queueMode: 'followup', next: 'go on' },
  { id: '10', text: 'stop', next: 'until quiet' },
  { id: '11', text: 'and again', next: 'until quiet' },
]

/** A channel that never gives up: what was not taken it delivers again, and once more for good measure. */
const drive = async (told: Story, fate: Fate): Promise<void> => {
  const revive = async () => {
    if (!fate.down) return
    await told.crash()
    fate.revive()
    told.failPoints.clear()
    await told.restart()
  }
  const attempt = async <T>(act: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await told.clock.until(Promise.race([act(), fate.death]))
    } catch (error) {
      if (fate.down || (isRuntimeError(error) && error.retryable)) return undefined
      throw error
    }
  }
  for (const { id, text, queueMode, next } of script) {
    const deliver = (key: string) =>
      attempt(() => told.main.send(text, { idempotencyKey: key, origin: { ...ann, messageId: id }, ...(queueMode ? { queueMode } : {}) }))
    while (!(await deliver(id))) await revive()
    while (!(await deliver(`${id} again`))) await revive()
    for (let rounds = 0; next !== 'go on'; rounds++) {
      await revive()
      const view = await attempt(() => told.main.view())
      if (!fate.down && next === 'until running' && view?.run) break
      if (!fate.down && next === 'until quiet' && view?.state === 'awaiting-input' && view.queued.length === 0) break
      if (rounds > 2000) throw new Error(`no end after ${id}: ${JSON.stringify(view)}`)
      await told.clock.advance(10)
    }
    await revive()
  }
}

/** What has to be the same, however often the process died. */
const endOf = async (told: Story) => {
  const { record } = await told.clock.until(told.main.view())
  const arrived = new Map(told.channel.sends.filter(({ outcome }) => outcome === 'sent').map(({ key, payload }) => [key, payload.text]))
  return {
    transcript: (await told.transcript()).filter((line) => !line.includes('(partial)')),
    toggles: record.toggles,
    spent: record.spent,
    seen: record.seen.length,
    aborted: record.abortedLastRun,
    arrived: [...arrived.values()],
  }
}

const undisturbed = await (async () => {
  await using told = await begin()
  await drive(told, aFate())
  return { end: await endOf(told), commits: told.failPoints.count('K02') }
})()

test('undisturbed it is what everybody expects', () => {
  const { transcript, toggles, spent, arrived } = undisturbed.end
  expect(transcript.map((line) => line.slice(0, 60))).toMatchInlineSnapshot(`
    [
      "user: something long",
      "assistant: a a a a a a a a a a a a a a a a a a a a a a a a a",
      "user: These messages came in while you were busy, oldest fir",
      "assistant: you said 89",
      "user: work",
      "assistant: let me see <work {"name":"x","ms":20}>",
      "tool work: "x done"",
      "assistant: done with it",
      "user: elsewhere",
      "assistant: from elsewhere",
      "user: for ever",
      "user: and again",
      "assistant: you said 9",
    ]
  `)
  expect({ toggles, turns: spent.turns }).toMatchInlineSnapshot(`
    {
      "toggles": {
        "thinking": "high",
        "usage": "full",
      },
      "turns": 6,
    }
  `)
  expect(arrived.map((text) => text?.slice(0, 60))).toMatchInlineSnapshot(`
    [
      "a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a ",
      "b b b b b b b b b b b b b b b b b b b b b b b b b b b b b b ",
      "c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c ",
      "you said 89",
      "Usage line: full.",
      "Thinking: high.",
      "let me see",
      "done with it",
      "Usage: 300 in / 20 out · session main",
      "from elsewhere",
      "Usage: 50 in / 5 out · session main",
      "Stopped. 1 waiting message was dropped.",
      "you said 9",
      "Usage: 10 in / 1 out · session main",
    ]
  `)
})

describe('killed at', () => {
  test.each(Array.from({ length: undisturbed.commits }, (_, index) => index + 1))(
    'commit %i: the end is the same [OC-04, OC-18, OC-25, OC-48, OC-61, OC-89, OC-103]',
    async (hit) => {
      await using told = await begin()
      const fate = aFate()
      told.failPoints.call(
        'K02',
        () => {
          fate.die()
          return new Promise<void>(() => undefined)
        },
        hit,
      )
      await drive(told, fate)

      expect(await endOf(told)).toEqual(undisturbed.end)
      expectPaired(await told.main.history())
      await expectEndedOnce(told)
      await expectNothingAlive(told)
    },
  )
})
