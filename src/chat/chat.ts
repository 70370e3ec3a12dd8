/** `chat()`: conversations with people on channels, as an extension of the runtime. */
import type { Agent, AgentTable, Heartbeat, ModelChoices } from '../contracts/agent.ts'
import { type Channel, Delivery, type SendRule } from '../contracts/channel.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import { Profile } from '../contracts/profile.ts'
import { checkChoice, checkHeartbeat, type Extension } from '../runtime/index.ts'
import { channelTable } from './channels/channel-table.ts'
import { deliverServices, deliveryActor } from './delivery/delivery.effects.ts'
import { chatPublisher } from './delivery/render.rules.ts'
import { chatDesk } from './desk/desk.effects.ts'
import { heartbeatKind, registerHeartbeat, startHeartbeats } from './heartbeat/heartbeat.effects.ts'
import { receiver } from './inbound/receive.ts'

/** Of the settings of a turn, those that are for people who read its answers. */
const ChatProfile = Profile.pick({ freshness: true, verbose: true, reasoning: true, usage: true, responsePrefix: true }).partial()

/** How one agent is with people on channels. */
export type ChatAgent = {
  /** How its answers are delivered: block streaming, typing, pacing. */
  delivery?: Delivery
  /** Asks it now and then whether there is something to say. Default: nobody does. */
  heartbeat?: Heartbeat
  /** What users may choose with `/model`: references, and short names for them. Default: any model that there is. */
  choice?: ModelChoices
} & Pick<Partial<Profile>, keyof typeof ChatProfile.shape>

export type ChatOptions = {
  /** Where messages come from and answers go to, besides our own `web` and `stdio`. */
  channels?: readonly Channel[]
  /** Where answers may go: a rule that denies wins over one that allows. Default: everywhere. */
  sendPolicy?: readonly SendRule[]
  /** By the name of an agent; what stands here wins over what `agent()` says. */
  agents?: Readonly<Record<string, ChatAgent>>
}

/** @throws RuntimeError bad_request naming the field, conflict for two channels of one name; an agent that is not there when the runtime starts */
export const chat = ({ channels: given = [], sendPolicy = [], agents = {} }: ChatOptions = {}): Extension => {
  const channels = channelTable(given)
  const settings = Object.entries(agents).map(([name, own]) => [name, checkAgent(name, own)] as const)
  return {
    name: 'chat',
    session(parts) {
      const people = peopleAgents(parts.agents, settings)
      const delivery = deliveryActor(deliverServices(parts, channels))
      return {
        publisher: chatPublisher(delivery),
        desk: chatDesk(delivery),
        receive: receiver({ channels, sendRules: sendPolicy, agents: people, environment: parts.environment }),
      }
    },
    machines: {
      [heartbeatKind]: ({ workspace, session, ...parts }) => {
        const delivery = deliveryActor(deliverServices(parts, channels))
        const ask = (key: string, agent: string) => session(key, { agent })
        return registerHeartbeat({ shared: parts, agents: peopleAgents(parts.agents, settings), channels, workspace, delivery, session: ask })
      },
    },
    async start(parts) {
      await startHeartbeats(parts, peopleAgents(parts.agents, settings))
      return () => undefined
    },
  }
}

const checkAgent = (name: string, { delivery, heartbeat, choice, ...profile }: ChatAgent): Partial<Agent> => ({
  ...(delivery === undefined ? {} : { delivery: parseInput(Delivery, delivery, `this is agents.${name}.delivery of chat()`) }),
  ...(heartbeat === undefined ? {} : { heartbeat: checkHeartbeat(heartbeat) }),
  ...(choice === undefined ? {} : { choice: checkChoice(choice) }),
  profile: parseInput(ChatProfile, profile, `this is agents.${name} of chat()`),
})

/** The agents as they are with people. @throws RuntimeError bad_request for settings of an agent that is not there */
const peopleAgents = (table: AgentTable, settings: readonly (readonly [string, Partial<Agent>])[]): ReadonlyMap<string, Agent> => {
  const people = new Map([...table].map(([name, { agent }]) => [name, agent]))
  for (const [name, own] of settings) {
    const agent = people.get(name)
    if (agent === undefined)
      throw new RuntimeError('bad_request', `chat() has settings of an agent '${name.slice(0, 80)}' that is not there`, {
        field: `agents.${name}`,
        hint: `there are: ${[...people.keys()].join(', ')}`,
      })
    people.set(name, { ...agent, ...own, profile: { ...agent.profile, ...own.profile } })
  }
  return people
}
