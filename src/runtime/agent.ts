/** `agent()`: what an author writes, checked once. */

import { wholeCopy } from '../actors/index.ts'
import { type Agent, defaultModelLimits, type Heartbeat, type ModelChoices } from '../contracts/agent.ts'
import { Delivery } from '../contracts/channel.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ModelLimits, ModelSettings } from '../contracts/model.ts'
import { parseInput } from '../contracts/parse.ts'
import { Profile } from '../contracts/profile.ts'
import type { Tool } from '../contracts/tool.ts'
import { checkedTools } from '../tools/index.ts'

export type AgentDefinition = {
  /** One to 64 letters, digits, `_` or `-`. */
  name: string
  /** `provider/model-id`; without one, the default model of the runtime. */
  model?: string
  instructions?: string
  tools?: readonly Tool[]
  /** Tools of micro services on the bus: `true` for all that there are, or their names, in which `*` stands for anything. Default: none. */
  services?: boolean | readonly string[]
  settings?: ModelSettings
  /** Bounds of one model call. */
  limits?: Partial<ModelLimits>
  /** How its answers are delivered where they go to a channel: block streaming, typing, pacing. */
  delivery?: Delivery
  /** What users may choose with `/model`: references, and short names for them. Default: any model that there is. */
  choice?: ModelChoices
  /** Asks it now and then whether there is something to say. Default: nobody does. */
  heartbeat?: Heartbeat
} & Partial<Omit<Profile, 'agent' | 'model' | 'heartbeat'>>

export const checkChoice = (choice: ModelChoices): ModelChoices => {
  for (const ref of [...(choice.allowed ?? []), ...Object.values(choice.aliases ?? {})])
    if (typeof ref !== 'string' || !/^[^/\s]+\/.+$/.test(ref))
      throw new RuntimeError('bad_request', `'${String(ref).slice(0, 80)}' is not a model reference`, {
        field: 'choice',
        hint: 'write provider/model-id',
      })
  return choice
}

export const checkHeartbeat = (heartbeat: Heartbeat): Heartbeat => {
  const { everyMs, activeHours } = heartbeat
  if (everyMs !== undefined && !(Number.isInteger(everyMs) && everyMs >= 1000))
    throw new RuntimeError('bad_request', `a heartbeat every ${String(everyMs)} ms`, {
      field: 'heartbeat.everyMs',
      hint: 'write a whole number from 1000 on',
    })
  for (const time of activeHours ? [activeHours.start, activeHours.end] : [])
    if (!/^\d{1,2}:[0-5]\d$/.test(time))
      throw new RuntimeError('bad_request', `'${String(time).slice(0, 20)}' is not a time of day`, {
        field: 'heartbeat.activeHours',
        hint: "write '08:00'",
      })
  return heartbeat
}

const checkLimits = (limits: Partial<ModelLimits>): Partial<ModelLimits> => {
  for (const [name, value] of Object.entries(limits))
    if (typeof value !== 'number' || !(value >= 1))
      throw new RuntimeError('bad_request', `${String(value).slice(0, 80)} is not a limit`, {
        field: `limits.${name}`,
        hint: 'write a number from 1 on',
      })
  return limits
}

const isNamePattern = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z0-9_*-]{1,64}$/.test(value)

const bounds = Profile.omit({ agent: true, model: true, heartbeat: true }).partial()

/** @throws RuntimeError bad_request, naming the field */
export const agent = ({
  name,
  model,
  instructions = '',
  tools = [],
  services = false,
  settings = {},
  limits = {},
  delivery,
  heartbeat,
  choice,
  ...profile
}: AgentDefinition): Agent => {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new RuntimeError('bad_request', `'${String(name).slice(0, 80)}' is not a valid agent name`, {
      field: 'name',
      hint: 'use 1 to 64 letters, digits, _ or -',
    })
  if (model !== undefined && !/^[^/\s]+\/.+$/.test(model))
    throw new RuntimeError('bad_request', `'${model}' is not a model reference`, { field: 'model', hint: 'write provider/model-id' })
  if (typeof services !== 'boolean' && !(Array.isArray(services) && services.every(isNamePattern)))
    throw new RuntimeError('bad_request', `'${String(services).slice(0, 80)}' does not say which services`, {
      field: 'services',
      hint: "write true, or names of tools such as ['weather', 'crm_*']",
    })
  // Said once, instead of with every message.
  wholeCopy({ instructions, ...profile, ...(heartbeat && { heartbeat }) })
  return Object.freeze({
    name,
    ...(model === undefined ? {} : { model }),
    instructions,
    tools: checkedTools(tools),
    services,
    settings,
    limits: { ...defaultModelLimits, ...checkLimits(limits) },
    ...(delivery === undefined ? {} : { delivery: parseInput(Delivery, delivery) }),
    ...(choice === undefined ? {} : { choice: checkChoice(choice) }),
    ...(heartbeat === undefined ? {} : { heartbeat: checkHeartbeat(heartbeat) }),
    profile: parseInput(bounds, profile),
  }) as Agent
}
