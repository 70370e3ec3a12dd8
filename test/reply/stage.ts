/** What stories about replies share: the channel, the models, who writes, and what happened. */
import { expect } from 'vitest'
import type { Clock } from '../../src/contracts/environment.ts'
import { noUsage, type Usage } from '../../src/contracts/message.ts'
import type { Model, ModelInfo, ModelRequest, ModelResponse } from '../../src/contracts/model.ts'
import type { Origin, Payload } from '../../src/contracts/reply.ts'
import type { RunEvent } from '../../src/index.ts'
import {
  type Script,
  type ScriptedResponse,
  type ScriptedSource,
  scriptedModel,
  type TestChannel,
  type TestChannelOptions,
  testChannel,
  virtualClock,
} from '../../src/testing/index.ts'
import { type Story, story, worker } from '../runtime/harness.ts'

/** A script and the facts about the model that plays it. */
type ModelScript = { script: ScriptedSource; info: ModelInfo }
export type Staged = NonNullable<Parameters<typeof story>[1]> & {
  channel?: TestChannelOptions
  models?: Record<string, ScriptedSource | ModelScript | Model>
}

/** A story whose channel is as the test wants it; other models stand beside `test/model`, which plays the script. */
export const staged = async (script: ScriptedSource | ModelScript, { channel, models, ...options }: Staged = {}): Promise<Story> => {
  let clock: Clock = virtualClock()
  // The channel and the models are there before the story and its time begin.
  const late: Clock = {
    now: () => clock.now(),
    setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
    clearTimeout: (handle) => clock.clearTimeout(handle),
  }
  const place = testChannel(late, channel)
  const cast = Object.entries({ 'test/model': script, ...models }).map(([ref, one]) => [
    ref,
    'script' in one ? { ...scriptedModel(one.script, { ref, clock: late }), info: one.info } : one,
  ])
  const told = await story([], { ...options, runtime: { ...options.runtime, channels: [place], models: Object.fromEntries(cast) } })
  clock = told.clock
  return Object.defineProperty(told, 'channel', { value: place })
}

/** Channels besides `test`, or in its place. */
export const channels = (...options: TestChannelOptions[]): TestChannel[] =>
  [{ id: 'test' }, ...options]
    .filter(({ id }, index, all) => all.findLastIndex((other) => other.id === id) === index)
    .map((one) => testChannel(virtualClock(), one))

/** The tool `work`. */
export const tools = (world: Parameters<ReturnType<typeof worker>>[0]) => [worker()(world)]

/** Ann writes on the channel `test`; the message has the same id for the session and for the channel. */
export const ann = (id: string, origin: Partial<Origin> = {}) => ({
  idempotencyKey: id,
  origin: { channel: 'test', to: 'ann', messageId: id, ...origin },
})

/** Sends a message. @returns its outcome; a failed turn rejects */
export const ask = async (told: Story, text: string, options?: Parameters<Story['say']>[1]) =>
  told.clock.until((await told.say(text, options)).result())

type End = Extract<RunEvent, { type: 'final' | 'error' | 'aborted' }>
/** Sends a message. @returns the event that ends its turn, however it ends */
export const askToEnd = async (told: Story, text: string, options: Parameters<Story['say']>[1] & { idempotencyKey: string }): Promise<End> => {
  await told.say(text, options)
  return endOf(told, options.idempotencyKey)
}

/** Waits until the turn of a message has ended. @returns the event that ended it */
export const endOf = async (told: Story, id: string): Promise<End> => {
  const end = () =>
    told
      .events('main')
      .findLast((event): event is End => (event.type === 'final' || event.type === 'error' || event.type === 'aborted') && event.ids.includes(id))
  await told.clock.until(() => end() !== undefined)
  return end() as End
}

/** Waits until the turn of a message starts. @returns ms since the epoch */
export const startOf = async (told: Story, id: string): Promise<number> => {
  await told.clock.until(() => eventsOf(told, 'started').some(({ ids }) => ids.includes(id)))
  return told.clock.now()
}

/** Endings of titles: such a story is told once as it is, and once with a crash in it. */
export const crashes = ['', ' over a crash']

/** Kills the process and starts it again. */
export const restart = async (told: Story): Promise<void> => {
  await told.crash()
  await told.restart()
}

/** Replay leads to the recorded states. */
export const expectReplay = async ({ runtime, main }: Story): Promise<void> => {
  expect(await runtime.replay(main.address)).toMatchObject({ verdict: 'identical' })
}

export const eventsOf = <Type extends RunEvent['type']>(told: Story, type: Type, key = 'main') =>
  told.events(key).filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type)

/** Messages by the turns that answered them. */
export const turns = (told: Story): string[] => eventsOf(told, 'started').map(({ ids }) => ids.join('+'))

/** Texts of the session's own notices. */
export const notices = (told: Story): string[] => eventsOf(told, 'notice').map(({ text }) => text)

/** Messages that arrived, in order, as `kind: text`. */
export const arrived = (told: Story): string[] =>
  eventsOf(told, 'block').map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media?.join(' ')}`)

/** Messages that the channel was asked to send, in the same form. */
export const tried = (told: Story): string[] => told.channel.sends.map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media?.join(' ')}`)

/** All payloads of an outcome. */
export const payloads = ({ reply, text }: { reply?: Payload | Payload[]; text?: string }): Payload[] =>
  reply === undefined ? [text === undefined ? {} : { text }] : [reply].flat()
export const texts = (outcome: Parameters<typeof payloads>[0]): string[] => payloads(outcome).flatMap(({ text }) => text ?? [])

/** The user messages of the conversation. */
export const prompts = async (told: Story): Promise<string[]> =>
  (await told.transcript()).flatMap((line) => (line.startsWith('user: ') ? [line.slice(6)] : []))

export const recordOf = async (told: Story) => (await told.main.view()).record

/** Settings that users chose. */
export const toggles = async (told: Story) => (await recordOf(told)).toggles

/** ms since the story began. */
export const since = (told: Story): number => told.clock.now() - virtualClock().now()

/** Fields of the log lines whose message has this part. */
export const logged = (told: Story, part: string): object[] => told.log.flatMap(({ message, fields }) => (message?.includes(part) ? [fields] : []))

/** So many characters of prose, in words. */
export const words = (length: number, word = 'word'): string => `${`${word} `.repeat(Math.ceil(length / (word.length + 1))).slice(0, length - 1)}.`
export const long = 'x'.repeat(400)

/** A model that keeps its requests; by default it answers after 100 ms with `re:` and the user messages since its last answer. */
export const listener = (answer: (request: ModelRequest) => ScriptedResponse = re, delayMs = 100) => {
  const asked: ModelRequest[] = []
  const script = (request: ModelRequest): ScriptedResponse => {
    asked.push(request)
    return { delayMs, ...answer(request) }
  }
  return { asked, script }
}

/** Is the model asked to summarise the conversation? */
export const isSummary = ({ instructions }: ModelRequest) => instructions.startsWith('You shorten')

/** A model that overflows when the conversation has more than `max` messages. */
export const reader = (max: number, summaryMs = 100) =>
  listener((request) => {
    if (isSummary(request)) return { text: 'SUMMARY', delayMs: summaryMs }
    return request.messages.length > max ? { error: { code: 'provider_overflow' } } : { text: `saw ${request.messages.length}` }
  })

/** User messages since the last answer. */
export const newest = ({ messages }: Pick<ModelRequest, 'messages'>): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .flatMap((message) => (message.role === 'user' ? [message.text] : []))
    .join(' + ')

/** The last user message, also where tools have answered since. */
export const newestText = ({ messages }: Pick<ModelRequest, 'messages'>): string => {
  const last = messages.findLast(({ role }) => role === 'user')
  return last?.role === 'user' ? last.text : ''
}

export const re = (request: ModelRequest): ScriptedResponse => ({ text: `re: ${newest(request)}` })

/** The text before the words of the newest message, without the time. */
export const before = ({ messages }: ModelRequest): string => {
  const message = messages.findLast(({ role }) => role === 'user')
  return message?.role === 'user' ? (message.before ?? '').replace(/\n\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d UTC\]$/, '') : ''
}

/** A model with known facts. It plays the script by the number of its answers so far, without any delay. */
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
