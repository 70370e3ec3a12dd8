/** The channels of an app by id: our own for the web and the command line, and those that its author brings. */

import { z } from 'zod'
import { type Channel, Delivery } from '../../contracts/channel.ts'
import type { Logger } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import { SkillFilter } from '../../contracts/skill.ts'
import { stdioChannel } from './stdio.ts'
import { webChannel } from './web.ts'

export type Channels = ReadonlyMap<string, Channel>

/** @param given one with the id of ours takes its place @throws RuntimeError conflict */
export const channelTable = (given: readonly Channel[]): Channels => {
  const table = new Map<string, Channel>([webChannel(), stdioChannel()].map((channel) => [channel.id, channel]))
  const own = new Set<string>()
  for (const channel of given) {
    checkChannel(channel)
    if (own.has(channel.id))
      throw new RuntimeError('conflict', `two channels are named '${channel.id}'`, { field: 'channels', hint: 'rename one of them' })
    own.add(channel.id)
    table.set(channel.id, channel)
  }
  return table
}

const positive = z.number().int().min(1)
const ms = z.number().int().min(0).optional()
const visible = { showOk: z.boolean().optional(), showAlerts: z.boolean().optional(), indicator: z.boolean().optional() }
const Adapter = z.looseObject({
  id: z.string().min(1).max(200),
  markdown: z.boolean(),
  textMax: positive,
  settings: Delivery.optional(),
  accounts: z.record(z.string(), Delivery).optional(),
  blocks: Delivery.optional(),
  queueDebounceMs: ms,
  inboundDebounceMs: ms,
  repeatable: z.boolean().optional(),
  tagsWhenOff: z.boolean().optional(),
  skills: SkillFilter.optional(),
  heartbeat: z
    .looseObject(visible)
    .extend({ accounts: z.record(z.string(), z.looseObject(visible)).optional() })
    .optional(),
})
const hooks = ['replyTo', 'threadContext', 'mentioned', 'groupHint', 'heartbeatReady', 'typing', 'partial'] as const

/** What is said of deliveries, and would be heard by nobody beside them. */
const settingsOnly = Object.keys(Delivery.shape).filter((name) => !(hooks as readonly string[]).includes(name) && name !== 'tagsWhenOff')

/** An adapter may come from JavaScript. @throws RuntimeError bad_request, naming what is wrong with which channel */
const checkChannel = (channel: Channel): void => {
  const { error } = Adapter.safeParse(channel)
  const wrong = error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []
  for (const hook of ['send', ...hooks] as const)
    if (typeof channel[hook] !== 'function' && (hook === 'send' || channel[hook] !== undefined)) wrong.push(`${hook}: not a function`)
  for (const name of settingsOnly) if (name in channel) wrong.push(`${name}: belongs into settings: { ${name} }`)
  if (wrong.length > 0)
    throw new RuntimeError('bad_request', `the channel '${String(channel.id).slice(0, 80)}' does not fit: ${wrong.join('; ')}`, {
      field: 'channels',
      hint: 'a channel is { id, markdown, textMax, send, … }: see examples/09-a-channel',
    })
}

/**
 * Adapters are other people's code: one that throws or answers rubbish does without, rather than making us deaf.
 * @param fits whether the answer can be used
 */
export const askChannel = <Answer>(
  channel: Channel,
  hook: string,
  ask: () => unknown,
  fits: (answer: unknown) => answer is Answer,
  log: Logger,
): Answer | undefined => {
  try {
    const answer = ask()
    if (answer === undefined || (!(answer instanceof Promise) && fits(answer))) return answer
    // A promise, perhaps: what it comes to is waited for by nobody.
    Promise.resolve(answer).catch(() => undefined)
    log.warn({ channel: channel.id, hook }, 'a channel answers something that cannot be used')
  } catch (error) {
    log.warn({ channel: channel.id, hook, error: errorBody(error) }, 'a channel fails when it is asked')
  }
  return undefined
}

/** @throws RuntimeError not_found: an answer to it would go nowhere */
export const channelNamed = (channels: Channels, id: string): Channel => {
  const found = channels.get(id)
  if (found) return found
  throw new RuntimeError('not_found', `no channel is named '${id.slice(0, 80)}' on this node`, {
    field: 'origin.channel',
    hint: `it has: ${[...channels.keys()].join(', ')}; add its adapter under channels in statecast.config.ts`,
  })
}
