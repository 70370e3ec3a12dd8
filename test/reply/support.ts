/** What stories about users of a channel share: who writes, a model that keeps what it was asked, and words for what happened. */
import { expect } from 'vitest'
import { noUsage, type Usage } from '../../src/contracts/message.ts'
import type { Model, ModelInfo, ModelRequest, ModelResponse } from '../../src/contracts/model.ts'
import type { Origin, Payload } from '../../src/contracts/reply.ts'
import type { RunEvent } from '../../src/index.ts'
import { type Script, type ScriptedResponse, type TestChannel, type TestChannelOptions, testChannel, virtualClock } from '../../src/testing/index.ts'
import type { Story } from '../runtime/harness.ts'

/** Ann writes on the channel `test`; the message has one name for us and for the channel. */
export const ann = (id: string, origin: Partial<Origin> = {}) => ({
  idempotencyKey: id,
  origin: { channel: 'test', to: 'ann', messageId: id, ...origin },
})

/** A model that keeps what it was asked; it answers after `delayMs`, with `re:` and what was said since its last answer unless told otherwise. */
export const listener = (answer: (request: ModelRequest) => ScriptedResponse = re, delayMs = 100) => {
  const asked: ModelRequest[] = []
  const script = (request: ModelRequest): ScriptedResponse => {
    asked.push(request)
    return { delayMs, ...answer(request) }
  }
  return { asked, script }
}

/** Of the model whether it is to shorten the conversation. */
export const isSummary = ({ instructions }: ModelRequest) => instructions.startsWith('You shorten')
export const long = 'x'.repeat(400)

/** Answers until more than `max` messages stand in the conversation. */
export const reader = (max: number, summaryMs = 100) =>
  listener((request) => {
    if (isSummary(request)) return { text: 'SUMMARY', delayMs: summaryMs }
    return request.messages.length > max ? { error: { code: 'provider_overflow' } } : { text: `saw ${request.messages.length}` }
  })

/** What users said since the last answer. */
export const newest = ({ messages }: Pick<ModelRequest, 'messages'>): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .flatMap((message) => (message.role === 'user' ? [message.text] : []))
    .join(' + ')

export const re = (request: ModelRequest): ScriptedResponse => ({ text: `re: ${newest(request)}` })

/** What stood before the words of the newest message, without the time. */
export const before = ({ messages }: ModelRequest): string => {
  const message = messages.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? (message.before ?? '').replace(/\n\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC\]$/, '') : ''
}

/** A model of which more is known than its name. It plays the script by the number of its answers so far, without any delay. */
export const known = (info: ModelInfo, script: Script | ((request: ModelRequest) => ScriptedResponse)): Model & { asked: ModelRequest[] } => {
  const asked: ModelRequest[] = []
  return {
    ref: 'test/model',
    info,
    asked,
    call: async (request): Promise<ModelResponse> => {
      asked.push(request)
      const place = request.messages.filter(({ role }) => role === 'assistant').length
      const { text = '', reasoning = '', usage = {}, calls = [], finish } = (typeof script === 'function' ? script(request) : script[place]) ?? {}
      return {
        text,
        reasoning,
        calls: calls.map(({ name, input }, index) => ({ callId: `call-${place}-${index}`, name, input: JSON.stringify(input ?? {}) })),
        usage: { ...noUsage, ...(usage as Partial<Usage>) },
        finish: finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
        model: 'test/model',
        partial: false,
      }
    },
  }
}

/** Says something and waits for the outcome. */
export const ask = async (told: Story, text: string, options?: Parameters<Story['say']>[1]) =>
  told.clock.until((await told.say(text, options)).result())

type Of<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>
export const eventsOf = <Type extends RunEvent['type']>(told: Story, type: Type): Of<Type>[] =>
  told.events('main').filter((event): event is Of<Type> => event.type === type)

/** Messages by the turns that answered them. */
export const turns = (told: Story): string[] => eventsOf(told, 'started').map(({ ids }) => ids.join('+'))

/** Lets time pass until a message has its turn. @returns ms since the epoch */
export const startOf = async (told: Story, id: string): Promise<number> => {
  await told.clock.until(() => eventsOf(told, 'started').some(({ ids }) => ids.includes(id)))
  return told.clock.now()
}

/** What the session said by itself. */
export const notices = (told: Story): string[] => eventsOf(told, 'notice').map(({ text }) => text)

/** What users get: all payloads of an outcome. */
export const payloads = ({ reply, text }: { reply?: Payload | Payload[]; text?: string }): Payload[] =>
  reply === undefined ? [text === undefined ? {} : { text }] : [reply].flat()
export const texts = (outcome: Parameters<typeof payloads>[0]): string[] => payloads(outcome).flatMap(({ text }) => text ?? [])

/** Wishes that the session keeps. */
export const toggles = async (told: Story) => (await told.main.view()).record.toggles

/** Channels besides `test`, or in its place. */
export const channels = (...options: TestChannelOptions[]): TestChannel[] =>
  [{ id: 'test' }, ...options]
    .filter(({ id }, index, all) => all.findLastIndex((other) => other.id === id) === index)
    .map((one) => testChannel(virtualClock(), one))

/** The journal leads to the same states once more. */
export const expectReplay = async ({ runtime, main }: Story): Promise<void> => {
  expect(await runtime.replay(main.address)).toMatchObject({ verdict: 'identical' })
}

/** The process dies and comes back. */
export const restarted = async (told: Story): Promise<void> => {
  await told.crash()
  await told.restart()
}
