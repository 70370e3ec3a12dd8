/** `chat()`: conversations with people on channels, as an extension of the runtime. */
import { z } from 'zod'
import { type Channel, SendRule } from '../contracts/channel.ts'
import { parseInput } from '../contracts/parse.ts'
import type { Extension, SharedParts } from '../runtime/index.ts'
import { channelTable } from './channels/channel-table.ts'
import { type ChatAgent, checkChatAgents, peopleAgents } from './chat-agents.ts'
import { deliverServices, deliveryActor } from './delivery/delivery.effects.ts'
import { referenceFinder } from './delivery/find-references.ts'
import { chatPublisher } from './delivery/render.rules.ts'
import { shownText } from './delivery/shown-text.rules.ts'
import { chatDesk } from './desk/desk.effects.ts'
import { heartbeatKind, registerHeartbeat, startHeartbeats } from './heartbeat/heartbeat.effects.ts'
import { receiver } from './inbound/receive.ts'
import { type LinkOptions, Links, Media, type MediaOptions } from './understanding/options.ts'
import { type UnderstandingOptions, understandingOf, understandingProfile } from './understanding/understanding.ts'

export type ChatOptions = {
  /** Where messages come from and answers go to, besides our own `web` and `stdio`. */
  channels?: readonly Channel[]
  /** Where answers may go: a rule that denies wins over one that allows. Default: everywhere. */
  sendPolicy?: readonly SendRule[]
  /**
   * Who reads what the links of messages lead to, before the model is asked: up to three of a message. `true`: we fetch pages of the public internet.
   * Default: nobody does.
   */
  links?: LinkOptions | true
  /** Who says what is in images, recordings and videos, before the model is asked. Default: nobody does. */
  media?: MediaOptions
  /** By the name of an agent. */
  agents?: Readonly<Record<string, ChatAgent>>
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
const optionsHint = "chat() takes { channels: [adapter], sendPolicy: [{ action: 'deny', channel: 'sms' }], agents: { main: { … } } }"
/** What is wrong with a channel or an agent is said when it is taken in. */
const Options = z.strictObject({
  channels: z.array(z.custom<Channel>(isObject, 'must be an adapter: { id, markdown, textMax, send, … }')).optional(),
  sendPolicy: z.array(SendRule).optional(),
  links: Links.optional(),
  media: Media.optional(),
  agents: z.custom<Readonly<Record<string, ChatAgent>>>().optional(),
})

/** @throws RuntimeError bad_request naming the field, conflict for two channels of one name; an agent that is not there when the runtime starts */
export const chat = (options: ChatOptions = {}): Extension => {
  const { channels: given = [], sendPolicy = [], agents = {}, ...looking } = parseInput(Options, options, optionsHint)
  const understanding = looking as UnderstandingOptions
  const channels = channelTable(given)
  const settings = checkChatAgents(agents)
  const deliveryOf = (parts: SharedParts) => deliveryActor(deliverServices(parts, channels))
  const agentsOf = (parts: SharedParts) => peopleAgents(parts.agents, settings)
  return {
    name: 'chat',
    session(parts) {
      const delivery = deliveryOf(parts)
      return {
        publisher: chatPublisher(delivery),
        desk: chatDesk(delivery),
        shown: shownText(agentsOf(parts)),
        references: referenceFinder(parts.isWorkspaceFile),
        receive: receiver({
          channels,
          sendRules: sendPolicy,
          agents: agentsOf(parts),
          environment: parts.environment,
          understanding: understandingProfile(understanding),
        }),
        understanding: understandingOf(understanding, parts),
      }
    },
    machines: {
      [heartbeatKind]: ({ workspace, session, ...parts }) => {
        const ask = (key: string, agent: string) => session(key, { agent })
        return registerHeartbeat({ shared: parts, agents: agentsOf(parts), channels, workspace, delivery: deliveryOf(parts), session: ask })
      },
    },
    async start(parts) {
      await startHeartbeats(parts, agentsOf(parts))
      return () => undefined
    },
  }
}
