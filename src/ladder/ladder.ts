/** `ladder()`: workflows, agents and what is built of them, as an extension of a runtime. */
import type { Agent, Extension } from '../index.ts'
import { LadderError } from './errors.ts'
import type { AnyExecutable, Bound } from './executable.ts'

/** What is made of several machines: the sessions of an orchestrator, and their turns. */
type Composed = {
  readonly name: string
  readonly machines: NonNullable<Extension['machines']>
  readonly agents: readonly Agent[]
  bind(bound: Bound | undefined): void
}
export type LadderOptions = { executables: readonly (AnyExecutable | Composed)[] }

const machinesOf = (one: AnyExecutable | Composed) => Object.entries('machines' in one ? one.machines : { [one.name]: one.machine })

/** @throws LadderError LADDER_CONFIG for two of one name */
export const ladder = ({ executables }: LadderOptions): Extension => {
  const kinds = executables.flatMap(machinesOf)
  const [twice] = kinds.find(([kind], index) => kinds.findIndex(([one]) => one === kind) !== index) ?? []
  if (twice !== undefined) throw new LadderError('LADDER_CONFIG', `two executables are named '${twice}'`, { hint: 'give one of them another name' })
  return {
    name: 'ladder',
    // One agent may be asked in several of them.
    agents: [...new Set(executables.flatMap(({ agents }) => agents))],
    machines: Object.fromEntries(kinds),
    async start({ runtime, transport: { registry }, environment: { clock, log } }) {
      for (const executable of executables) executable.bind({ runtime, registry, clock, warn: (facts, message) => log.warn(facts, message) })
      return () => {
        for (const executable of executables) executable.bind(undefined)
      }
    },
  }
}
