/** What stories about answers on their way to a channel share: the channel, the models, and words for what arrived. */
import { expect } from 'vitest'
import type { Clock } from '../../src/contracts/environment.ts'
import type { Model, ModelInfo } from '../../src/contracts/model.ts'
import type { Origin } from '../../src/contracts/reply.ts'
import type { RunEvent } from '../../src/index.ts'
import { type ScriptedSource, scriptedModel, type TestChannelOptions, testChannel, virtualClock } from '../../src/testing/index.ts'
import { type Story, story } from '../runtime/harness.ts'

/** A script with what is known of the model that plays it. */
export type Known = { script: ScriptedSource; info: ModelInfo }
export type Staged = NonNullable<Parameters<typeof story>[1]> & {
  channel?: TestChannelOptions
  models?: Record<string, ScriptedSource | Known | Model>
}

/** A story whose channel is as the test wants it; other models stand beside `test/model`, which plays the script. */
export const staged = async (script: ScriptedSource | Known, { channel, models, ...options }: Staged = {}): Promise<Story> => {
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

/** Stories that come to the same end whether or not the process dies in the middle. */
export const lives = ['', ' over a crash']

/** A message of Ann, on the channel `test`. */
export const by = (id: string, origin: Partial<Origin> = {}) => ({
  idempotencyKey: id,
  origin: { channel: 'test', to: 'ann', messageId: id, ...origin },
})

/** The process dies and comes back, if this is a life in which it does. */
export const reborn = async (told: Story, life: string | undefined = 'yes'): Promise<void> => {
  if (!life) return
  await told.crash()
  await told.restart()
}

/** Until a message has its outcome. @returns the event that tells it */
export const ended = async (told: Story, id: string): Promise<Extract<RunEvent, { type: 'final' | 'error' | 'aborted' }>> => {
  const ending = () =>
    told
      .events('main')
      .findLast(
        (event): event is Extract<RunEvent, { type: 'final' | 'error' | 'aborted' }> =>
          (event.type === 'final' || event.type === 'error' || event.type === 'aborted') && event.ids.includes(id),
      )
  await told.clock.until(() => ending() !== undefined)
  return ending() as Extract<RunEvent, { type: 'final' | 'error' | 'aborted' }>
}

/** Says something, and waits for what becomes of it. */
export const asked = async (told: Story, text: string, options: Parameters<Story['say']>[1] & { idempotencyKey: string }) => {
  await told.say(text, options)
  return ended(told, options.idempotencyKey)
}

export const eventsOf = <Type extends RunEvent['type']>(told: Story, type: Type, key = 'main') =>
  told.events(key).filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type)

/** What arrived, in order, as `kind: text`: each is told when it has. */
export const arrived = (told: Story): string[] =>
  eventsOf(told, 'block').map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media?.join(' ')}`)

/** Everything that the channel was asked to send, in the same words. */
export const tried = (told: Story): string[] => told.channel.sends.map(({ kind, payload: { text, media } }) => `${kind}: ${text ?? media?.join(' ')}`)

/** ms since the story began. */
export const since = (told: Story): number => told.clock.now() - virtualClock().now()

/** What was logged, as words. */
export const logged = (told: Story, part: string): object[] => told.log.flatMap(({ message, fields }) => (message?.includes(part) ? [fields] : []))

/** The journal leads to the same states once more. */
export const expectReplay = async ({ runtime, main }: Story): Promise<void> => {
  expect(await runtime.replay(main.address)).toMatchObject({ verdict: 'identical' })
}

/** So many characters of prose, in words. */
export const words = (length: number, word = 'word'): string => `${`${word} `.repeat(Math.ceil(length / (word.length + 1))).slice(0, length - 1)}.`
