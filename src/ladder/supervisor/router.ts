/** `router()` and `classifier()`: agents that choose, for supervisors. */
import { z } from 'zod'
import { type Agent, agent } from '../agent/agent.ts'
import type { AgentDefinition } from '../agent/definition.ts'
import { LadderError } from '../errors.ts'
import { type Classified, END } from './definition.ts'

export type RouterDefinition = Omit<AgentDefinition<string, undefined>, 'output' | 'prompt' | 'input' | 'maxTrips' | 'name'> & {
  name?: string
  /** Names of the intents that it chooses from. */
  intents: readonly string[]
}

/** It is asked once; with `repair` again where it names somebody who is not there. @throws LadderError LADDER_CONFIG */
export const router = ({
  intents,
  name = 'router',
  repair = 0,
  ...definition
}: RouterDefinition): Agent<string, { next: string | string[]; reasoning?: string | undefined }> => {
  const known = z.enum([END, ...named(name, intents)])
  return agent({
    ...definition,
    name,
    repair,
    maxTrips: 1 + repair,
    output: z.object({ next: z.union([known, z.array(known)]), reasoning: z.string().optional() }),
  })
}

/** Says what a request is, for `classifier`. @throws LadderError LADDER_CONFIG */
export const classifier = <const Name extends string>({
  intents,
  name = 'classifier',
  repair = 0,
  ...definition
}: Omit<RouterDefinition, 'intents'> & { intents: readonly Name[] }): Agent<string, Classified<Name>> =>
  agent({
    ...definition,
    name,
    repair,
    maxTrips: 1 + repair,
    output: z.object({ intent: z.enum(named(name, intents)), reasoning: z.string().optional(), confidence: z.number().optional() }),
  }) as unknown as Agent<string, Classified<Name>>

const named = <Name extends string>(who: string, intents: readonly Name[]): readonly Name[] => {
  const given: unknown = intents
  if (Array.isArray(given) && given.length > 0 && given.every((intent) => typeof intent === 'string')) return intents
  throw new LadderError('LADDER_CONFIG', `'${String(who).slice(0, 40)}' has no names to choose from`, {
    hint: "write intents: ['write', 'check'], the names of the intents of its supervisor",
  })
}
