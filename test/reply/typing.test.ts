/** When somebody is seen to type: what sets it off, how long it lasts, and that it ends. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { TypingMode } from '../../src/contracts/channel.ts'
import { tool } from '../../src/index.ts'
import type { ScriptedResponse, VirtualClock } from '../../src/testing/index.ts'
import { work } from '../runtime/harness.ts'
import { ann, arrived, askToEnd, crashes, endOf, eventsOf, restart, staged, tools } from './stage.ts'

/** Something happens each second: the first reasoning, the first text, the tool, the answer. */
const script: ScriptedResponse[] = [
  { delayMs: 1000, reasoning: 'hm', text: 'Let me see.', deltaDelayMs: 1000, calls: [work('x', 1000)] },
  { delayMs: 1000, text: 'It is cold.' },
]
const group = { chatType: 'group' } as const

test.each([
  ['instant', 0],
  ['thinking', 1000],
  ['message', 2000],
] as const)('[OC-68] %s: typing begins after %i ms, when the run, the reasoning or the text begins', async (mode: TypingMode, at: number) => {
  await using told = await staged(script, { tools, delivery: { typing: { mode } } })

  await askToEnd(told, 'how is it', ann('a'))

  expect(told.channel.typed[0]).toBe(at)
})

test('[OC-68, OC-69] never: not even for a tool', async () => {
  await using told = await staged(script, { tools, delivery: { typing: { mode: 'never' } } })

  await askToEnd(told, 'how is it', ann('a'))

  expect(told.channel.typed).toEqual([])
})

test.each([
  ['to us alone', {}, 0],
  ['in a group that names us', { ...group, mentioned: true }, 0],
  ['in a group', group, 2000],
] as const)('[OC-68] where nobody wants it otherwise, a message %s: after so many ms', async (_, origin, at) => {
  await using told = await staged(script, { tools })

  await askToEnd(told, 'how is it', ann('a', origin))

  expect(told.channel.typed[0]).toBe(at)
})

test('[OC-69] in mode thinking, the first piece of reasoning sets it off, without any text', async () => {
  await using told = await staged([{ reasoning: 'hm', hang: true }], { delivery: { typing: { mode: 'thinking' } } })

  await told.say('how is it', ann('a'))
  await told.clock.advance(100)

  expect(told.channel.typed).toEqual([0])
})

test.each(['thinking', 'message'] as const)('[OC-69] in mode %s, a tool sets it off where nothing was said before', async (mode) => {
  await using told = await staged([{ delayMs: 500, calls: [work('x', 1000)] }, { text: 'NO_REPLY' }], { tools, delivery: { typing: { mode } } })

  await askToEnd(told, 'how is it', ann('a'))

  expect(told.channel.typed).toEqual([500])
})

test('[OC-69] the silent word sets nothing off, however slowly it comes', async () => {
  await using told = await staged([{ text: 'NO_REPLY', chunkSize: 1, deltaDelayMs: 100 }], { delivery: { typing: { mode: 'message' } } })

  await askToEnd(told, 'hm', ann('a'))

  expect([told.channel.typed, arrived(told)]).toEqual([[], []])
})

// The crash: the timer of the next sign is running.
test.each(crashes)('[OC-70] the sign is given every 6 seconds, and not after the end%s', async (crash) => {
  await using told = await staged([{ delayMs: 20_000, text: 'done' }])
  await told.say('go', ann('a'))
  await told.clock.advance(14_000)
  expect(told.channel.typed).toEqual([0, 6000, 12_000])

  if (crash) await restart(told)
  await endOf(told, 'a')
  const before = told.channel.typed.length
  await told.clock.advance(60_000)

  // Who comes back begins anew, with the model.
  if (crash) expect(told.channel.typed.slice(3)).toEqual([14_000, 20_000, 26_000, 32_000])
  else expect(told.channel.typed.slice(3)).toEqual([18_000])
  expect(told.channel.typed).toHaveLength(before)
  expect(eventsOf(told, 'typing').at(-1)?.active).toBe(false)
  expect(arrived(told)).toEqual(['final: done'])
})

test('[OC-70] the pause between two signs can be set, and none or less means no typing', async () => {
  const typedBy = async (everyMs: number) => {
    await using told = await staged([{ delayMs: 5000, text: 'done' }], { delivery: { typing: { everyMs } } })
    await askToEnd(told, 'go', ann('a'))
    return told.channel.typed
  }

  expect(await typedBy(2000)).toEqual([0, 2000, 4000])
  expect(await typedBy(0)).toEqual([])
  expect(await typedBy(-1)).toEqual([])
})

test('[OC-70] after 2 minutes without anything it stops, and the next sign of life begins it anew', async () => {
  await using told = await staged([{ delayMs: 200_000, text: 'still here', deltaDelayMs: 1000 }], {
    limits: { modelCall: { idleTimeoutMs: 300_000 } },
  })
  await told.say('go', ann('a'))
  await told.clock.advance(190_000)

  expect(told.channel.typed.at(-1)).toBe(114_000)
  expect(eventsOf(told, 'typing').at(-1)?.active).toBe(false)

  await told.clock.advance(10_500)
  expect(told.channel.typed.at(-1)).toBe(200_000)
  await endOf(told, 'a')
})

test('[OC-70] a text that grows keeps it alive for longer than 2 minutes', async () => {
  await using told = await staged([{ chunks: ['one ', 'two ', 'six ', 'ten '], deltaDelayMs: 100_000 }], {
    limits: { modelCall: { idleTimeoutMs: 300_000 } },
  })

  await askToEnd(told, 'count', ann('a'))

  expect(told.channel.typed.at(-1)).toBe(396_000)
  expect(told.channel.typed).toHaveLength(67)
})

test('[OC-70] it lasts while the answer is on its way, also when the model has nothing more to say', async () => {
  await using told = await staged([{ text: 'done' }])
  told.channel.delay(13_000)

  await askToEnd(told, 'go', ann('a'))
  await told.clock.advance(60_000)

  expect(told.channel.typed).toEqual([0, 6000, 12_000])
})

/** A tool that tells every 30 seconds how far it is, and looks at no signal. */
const teller = (rounds: number, timeoutMs: number) => (world: { clock: VirtualClock }) =>
  tool({
    name: 'work',
    description: 'works',
    timeoutMs,
    input: z.object({}),
    execute: async (_, { progress }) => {
      for (let round = 1; round <= rounds; round++) {
        await new Promise<void>((resolve) => void world.clock.setTimeout(resolve, 30_000))
        progress(`round ${round}`)
      }
    },
  })

test('[OC-70] a tool that stirs after the end sets nothing off', async () => {
  await using told = await staged([{ calls: [{ name: 'work' }] }, { text: 'It takes too long.' }], { tools: (world) => [teller(3, 1000)(world)] })

  await askToEnd(told, 'go', ann('a'))
  const before = told.channel.typed.length
  await told.clock.advance(100_000)

  expect(told.channel.typed).toHaveLength(before)
})

// `Delivering.hear` looks at deltas alone: what a tool says of its progress does not reach the typing machine.
test('[OC-69] a tool that says how far it is keeps it alive', async () => {
  await using told = await staged([{ calls: [{ name: 'work' }] }, { text: 'done' }], { tools: (world) => [teller(8, 300_000)(world)] })

  await askToEnd(told, 'go', ann('a'))

  expect(told.channel.typed).toContain(180_000)
})

test.each([
  ['the silent word', { text: 'NO_REPLY' }],
  ['the word of a heartbeat', { text: 'HEARTBEAT_OK' }],
] as const)('[OC-71] an answer that is %s: nobody is seen to type', async (_, answer) => {
  await using told = await staged([answer], { delivery: { typing: { mode: 'message' } } })

  expect(await askToEnd(told, 'hm', ann('a'))).toMatchObject({ outcome: 'silent' })

  expect([told.channel.typed, arrived(told)]).toEqual([[], []])
})

test('[OC-71] an answer with something in it is typed for before it is sent, though no text was heard', async () => {
  const mute = { ref: 'test/model', call: async () => ({ ...answer, text: 'MEDIA:https://example.com/cat.png' }) }
  const answer = { text: '', reasoning: '', calls: [], usage: usage(), finish: 'stop' as const, model: 'test/model', partial: false }
  await using told = await staged([], { models: { 'test/model': mute }, delivery: { typing: { mode: 'instant' } } })
  told.channel.delay(7000)

  await askToEnd(told, 'a cat', ann('a'))

  expect(arrived(told)).toEqual(['final: https://example.com/cat.png'])
  expect(told.channel.typed).toEqual([0, 6000])
})

const usage = () => ({ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 })
