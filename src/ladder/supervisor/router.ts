/** `router()` and `classifier()`: agents that choose, for supervisors. */
import { z } from 'zod'
import { type Agent, agent } from '../agent/agent.ts'
import type { AgentDefinition } from '../agent/definition.ts'
import { LadderError } from '../errors.ts'
import { isRecord } from '../given.ts'
import { type Classified, END } from './definition.ts'

export type RouterDefinition = Omit<AgentDefinition<string, undefined>, 'output' | 'prompt' | 'input' | 'maxTrips' | 'name'> & {
  name?: string
  /** Names of the intents that it chooses from. */
  intents: readonly string[]
}

/** It is asked once; with `repair` again where it names nobody, or somebody who is not there. @throws LadderError LADDER_CONFIG */
export const router = (given: RouterDefinition): Agent<string, { next: string | string[]; reasoning?: string | undefined }> => {
  const { intents, name = 'router', repair = 0, ...definition } = chooser(given, 'router')
  const known = z.enum([END, ...named(name, intents)])
  return agent({
    ...definition,
    name,
    repair,
    maxTrips: 1 + repair,
    output: z.object({ next: z.union([known, z.array(known).min(1)]), reasoning: z.string().optional() }),
  })
}

/** Says what a request is, for `classifier`. @throws LadderError LADDER_CONFIG */
export const classifier = <const Name extends string>(
  given: Omit<RouterDefinition, 'intents'> & { intents: readonly Name[] },
): Agent<string, Classified<Name>> => {
  const { intents, name = 'classifier', repair = 0, ...definition } = chooser(given, 'classifier')
  return agent({
    ...definition,
    name,
    repair,
    maxTrips: 1 + repair,
    output: z.object({ intent: z.enum(named(name, intents)), reasoning: z.string().optional(), confidence: z.number().optional() }),
  }) as unknown as Agent<string, Classified<Name>>
}

/** The rest is looked at as that of any agent, apart from what it says itself. */
const chooser = <Definition extends object>(given: Definition, maker: 'router' | 'classifier'): Definition => {
  if (!isRecord(given))
    throw new LadderError('LADDER_CONFIG', `${maker}() has no definition`, { hint: `write ${maker}({ intents: ['write', 'check'] })` })
  const own = ['output', 'prompt', 'input', 'maxTrips'].find((option) => (given as Record<string, unknown>)[option] !== undefined)
  if (own === undefined) return given
  throw new LadderError('LADDER_CONFIG', `${maker}() has '${own}', which it says itself`, {
    hint: 'leave it out, or write the whole of it with agent()',
  })
}

const named = <Name extends string>(who: string, intents: readonly Name[]): readonly Name[] => {
  const given: unknown = intents
  if (Array.isArray(given) && given.length > 0 && given.every((intent) => typeof intent === 'string')) return intents
  throw new LadderError('LADDER_CONFIG', `'${String(who).slice(0, 40)}' has no names to choose from`, {
    hint: "write intents: ['write', 'check'], the names of the intents of its supervisor",
  })
}
