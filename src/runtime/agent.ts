/** `agent()`: what an author writes, checked once. */
import { type Agent, defaultModelLimits } from '../contracts/agent.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ModelLimits, ModelSettings } from '../contracts/model.ts'
import { Profile } from '../contracts/session.ts'
import type { Tool } from '../contracts/tool.ts'
import { parseInput } from './parse.ts'

export type AgentDefinition = {
  /** One to 64 letters, digits, `_` or `-`. */
  name: string
  /** `provider/model-id`; without one, the default model of the runtime. */
  model?: string
  instructions?: string
  tools?: readonly Tool[]
  settings?: ModelSettings
  /** Bounds of one model call. */
  limits?: Partial<ModelLimits>
} & Partial<Omit<Profile, 'agent' | 'model'>>

const bounds = Profile.omit({ agent: true, model: true }).partial()

/** @throws RuntimeError bad_request, naming the field */
export const agent = ({ name, model, instructions = '', tools = [], settings = {}, limits = {}, ...profile }: AgentDefinition): Agent => {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    throw new RuntimeError('bad_request', `'${String(name).slice(0, 80)}' is no name for an agent`, {
      field: 'name',
      hint: 'use 1 to 64 letters, digits, _ or -',
    })
  if (model !== undefined && !/^[^/\s]+\/.+$/.test(model))
    throw new RuntimeError('bad_request', `'${model}' is no model reference`, { field: 'model', hint: 'write provider/model-id' })
  return Object.freeze({
    name,
    ...(model === undefined ? {} : { model }),
    instructions,
    tools,
    settings,
    limits: { ...defaultModelLimits, ...limits },
    profile: parseInput(bounds, profile),
  }) as Agent
}
