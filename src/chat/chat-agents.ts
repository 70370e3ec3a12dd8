/** How agents are with people on channels: what `chat()` is told of each, checked once, and laid over what `agent()` says. */
import { z } from 'zod'
import { wholeCopy } from '../actors/index.ts'
import type { Agent, AgentTable, Heartbeat } from '../contracts/agent.ts'
import { Delivery } from '../contracts/channel.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import { Profile } from '../contracts/profile.ts'
import { Route } from '../contracts/reply.ts'
import { TimeZone } from '../contracts/time-zone.ts'

/** Of the settings of a turn, those that are for people who read its answers. */
const ChatProfile = Profile.pick({ freshness: true, verbose: true, reasoning: true, usage: true, responsePrefix: true }).partial()

/** How one agent is with people on channels. */
export type ChatAgent = {
  /** How its answers are delivered: block streaming, typing, pacing. */
  delivery?: Delivery
  /** Asks it now and then whether there is something to say. Default: nobody does. */
  heartbeat?: Heartbeat
} & Pick<Partial<Profile>, keyof typeof ChatProfile.shape>

type Manners = Pick<ChatAgent, 'delivery' | 'heartbeat'>
type ChatSettings = Manners & { profile: Partial<Profile> }

/** An agent as people on channels have it. */
export type PeopleAgent = Agent & Manners
export type PeopleAgents = ReadonlyMap<string, PeopleAgent>

const yearMs = 365 * 24 * 3_600_000
const timeOfDay = z.string().regex(/^(?:(?:[01]?\d|2[0-3]):[0-5]\d|24:00)$/, "must be a time of day such as '08:00'")
/** At run time one that nobody knows is UTC, so that no guard throws. */
const known = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).partial()
const HeartbeatOptions: z.ZodType<Heartbeat> = known({
  everyMs: z.number().int().min(1000).max(yearMs),
  session: z.string().min(1),
  model: z.string().min(1),
  prompt: z.string().min(1),
  activeHours: z.strictObject({ start: timeOfDay, end: timeOfDay, timeZone: TimeZone.optional() }),
  checklist: z.string().min(1),
  target: z.union([z.enum(['last', 'none']), Route], { error: "must be 'last', 'none' or a place: { channel, to }" }),
  visibility: known({ showOk: z.boolean(), showAlerts: z.boolean(), indicator: z.boolean() }),
}) as z.ZodType<Heartbeat>

const ChatAgents = z.object({
  agents: z.record(z.string(), known({ ...ChatProfile.shape, delivery: Delivery, heartbeat: HeartbeatOptions })),
})

/** What `chat()` is told of agents, by their names. @throws RuntimeError bad_request, naming the field by its path */
export const checkChatAgents = (agents: Readonly<Record<string, ChatAgent>>): readonly (readonly [string, ChatSettings])[] => {
  for (const [name, given] of Object.entries(agents ?? {}))
    if (typeof given === 'object' && given !== null && 'choice' in given)
      throw new RuntimeError('bad_request', "'choice' is an option of agent()", {
        field: `agents.${name}.choice`,
        hint: `write agent({ name: '${name}', choice: { … } })`,
      })
  const checked = parseInput(
    ChatAgents,
    { agents },
    "write agents: { main: { delivery, heartbeat: { everyMs: 1_800_000, activeHours: { start: '08:00', end: '20:00' } }, … } }, see docs/guides/app.md",
  )
  // Said once, instead of with every message.
  wholeCopy({ agents })
  return Object.entries(checked.agents).map(([name, { delivery, heartbeat, ...profile }]) => [
    name,
    { ...definedOf({ delivery, heartbeat }), profile: definedOf(profile) },
  ])
}

/** The agents as they are with people. @throws RuntimeError bad_request for settings of an agent that is not there */
export const peopleAgents = (table: AgentTable, settings: readonly (readonly [string, ChatSettings])[]): PeopleAgents => {
  const people = new Map<string, PeopleAgent>([...table].map(([name, { agent }]) => [name, agent]))
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
