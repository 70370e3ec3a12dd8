/** `router()`: an agent that chooses, for supervisors. */
import { z } from 'zod'
import { type Agent, agent } from '../agent/agent.ts'
import type { AgentDefinition } from '../agent/definition.ts'
import { END } from './definition.ts'

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
  const known = z.enum([END, ...intents])
  return agent({
    ...definition,
    name,
    repair,
    maxTrips: 1 + repair,
    output: z.object({ next: z.union([known, z.array(known)]), reasoning: z.string().optional() }),
  })
}
