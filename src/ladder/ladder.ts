/** `ladder()`: workflows, agents and what is built of them, as an extension of a runtime. */
import type { Extension } from '../index.ts'
import { LadderError } from './errors.ts'
import type { AnyExecutable } from './executable.ts'

export type LadderOptions = { executables: readonly AnyExecutable[] }

/** @throws LadderError LADDER_CONFIG for two of one name */
export const ladder = ({ executables }: LadderOptions): Extension => {
  const twice = executables.find(({ name }, index) => executables.findIndex((one) => one.name === name) !== index)
  if (twice) throw new LadderError('LADDER_CONFIG', `two executables are named '${twice.name}'`, { hint: 'give one of them another name' })
  return {
    name: 'ladder',
    // One agent may be asked in several of them.
    agents: [...new Set(executables.flatMap(({ agents }) => agents))],
    machines: Object.fromEntries(executables.map(({ name, machine }) => [name, machine])),
    async start({ runtime, transport: { registry }, environment: { clock, log } }) {
      for (const executable of executables) executable.bind({ runtime, registry, clock, warn: (facts, message) => log.warn(facts, message) })
      return () => {
        for (const executable of executables) executable.bind(undefined)
      }
    },
  }
}
