import { expect, test } from 'vitest'
import { published } from '../../../src/chat/delivery/render.rules.ts'
import { defaultProfile, type Profile } from '../../../src/contracts/profile.ts'
import type { LoopOutput, TurnFacts } from '../../../src/contracts/turn.ts'
import { anAnswer } from '../../machines/loop/answers.ts'

const became = (answer: Partial<LoopOutput>, profile: Partial<Profile> = {}, facts: Partial<TurnFacts> = {}) =>
  published(
    {
      session: 's',
      profile: { ...defaultProfile, agent: 'main', model: 'test/model', ...profile },
      facts: { compactions: 0, at: 1_770_000_000_000, ...facts },
    },
    anAnswer(answer),
  ).output

test('[OC-01] each way to end has one outcome, and a reply where users get something else than the text', () => {
  expect(became({})).toEqual({ outcome: 'replied' })
  expect(became({ texts: ['first', 'second'], text: 'second' })).toEqual({ outcome: 'replied', reply: [{ text: 'first' }, { text: 'second' }] })
  expect(became({ texts: ['NO_REPLY'], text: 'NO_REPLY' })).toEqual({ outcome: 'silent' })
  expect(became({ status: 'cancelled' })).toEqual({})
  const failed = (error: LoopOutput['error'], profile: Partial<Profile> = {}) => became({ status: 'failed', error, texts: [] }, profile)
  const tooLong = { code: 'provider_overflow', message: 'too long', retryable: false } as const
  expect(failed(tooLong)).toEqual({ reply: { error: true, text: expect.stringContaining('new session') } })
  expect(failed(tooLong, { heartbeat: true })).toEqual({})
  const { reply } = failed({ code: 'provider_rate_limit', message: '{"x":1}', retryable: true })
  expect(reply).toMatchObject({ error: true })
  expect(JSON.stringify(reply)).not.toContain('"x"')
})

test('[OC-86] the line about usage stands below the last text', () => {
  expect(became({}, { usage: 'full' }).reply).toEqual({ text: 'hello\nUsage: 1.2k in / 34 out · est $0.01 · session s' })
})

test('[OC-85, OC-84] notices stand before the answer, and only where somebody wants to know', () => {
  const facts = { newSessionId: 'abc', compactions: 2 }
  expect(became({ compactions: 1 }, {}, facts)).not.toHaveProperty('reply')

  expect(became({ compactions: 1 }, { verbose: 'on' }, facts).reply).toEqual([
    { text: expect.stringContaining('abc') },
    { text: expect.stringContaining('3') },
    { text: 'hello' },
  ])
})

test('[OC-80] a tool that failed is named where there is no answer, unless only the model was wrong', () => {
  const silent = { texts: [], text: '' }
  expect(became({ ...silent, toolError: { name: 'pay', code: 'tool_failed' } }).reply).toMatchObject({
    text: expect.stringContaining('pay'),
    error: true,
  })
  expect(became({ ...silent, toolError: { name: 'pay', code: 'tool_input' } }).outcome).toBe('silent')
})

test('[OC-77] what a tool has sent is not said once more, nor anything where it wrote to the place of the answer', () => {
  const said = 'The report is on its way.'
  const sent = (sends: object): Partial<LoopOutput> => ({ text: said, texts: [said], annotations: [{ sends }] })
  const origin = { channel: 'test', to: 'ann' }

  expect(became(sent({ text: said })).outcome).toBe('silent')
  expect(became(sent({ text: 'something else' })).outcome).toBe('replied')
  expect(became(sent({ text: 'something else', route: origin }), {}, { origin, delivery: {} }).outcome).toBe('silent')
  expect(became(sent({ text: 'something else', route: { ...origin, to: 'bob' } }), {}, { origin, delivery: {} }).outcome).toBe('replied')
})
