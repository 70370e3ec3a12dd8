/** `ladder()`: workflows, agents and what is built of them, as an extension of a runtime. */
import type { Extension } from '../index.ts'
import { LadderError } from './errors.ts'
import type { AnyExecutable } from './executable.ts'
import { ladderCommands } from './serving/commands.ts'

export type LadderOptions = {
  executables: readonly AnyExecutable[]
  /** Whether the doors of the node serve them, as the commands `ladder.execute`, `ladder.result` and the like. Default: no. */
  serve?: boolean
}

/** @throws LadderError LADDER_CONFIG for two of one name */
export const ladder = ({ executables: given, serve = false }: LadderOptions): Extension => {
  const executables = withCallable(given)
  const twice = executables.find(({ name }, index) => executables.findIndex((one) => one.name === name) !== index)
  if (twice) throw new LadderError('LADDER_CONFIG', `two executables are named '${twice.name}'`, { hint: 'give one of them another name' })
  for (const executable of executables) executable.announce()
  return {
    name: 'ladder',
    // One agent may be asked in several of them.
    agents: [...new Set(executables.flatMap(({ agents }) => agents))],
    ...(serve && { commands: ladderCommands(given) }),
    machines: Object.fromEntries(executables.map(({ name, machine }) => [name, machine])),
    async start({ runtime, transport: { registry }, environment: { clock, log } }) {
      for (const executable of executables) executable.bind({ runtime, registry, clock, warn: (facts, message) => log.warn(facts, message) })
      return () => {
        for (const executable of executables) executable.bind(undefined)
      }
    },
  }
}

/** With those that code of them may call by name. */
const withCallable = (executables: readonly AnyExecutable[]): readonly AnyExecutable[] => {
  const all = new Set(executables)
  // A set that grows is gone through to its new end.
  for (const executable of all) for (const one of executable.callable) all.add(one)
  return [...executables, ...[...all].filter((one) => !executables.includes(one))]
}
