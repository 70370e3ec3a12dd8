/** `ladder()`: workflows, agents and what is built of them, as an extension of a runtime. */
import type { Extension } from '../index.ts'
import { LadderError } from './errors.ts'
import type { AnyExecutable, Bound } from './executable.ts'
import { Schedule } from './schedule/schedule.ts'
import { ladderCommands } from './serving/commands.ts'

export type LadderOptions = {
  /** Schedules stand beside what they run. */
  executables: readonly (AnyExecutable | Schedule)[]
  /** Whether the doors of the node serve them, as the commands `ladder.execute`, `ladder.result` and the like. Default: no. */
  serve?: boolean
}

/** @throws LadderError LADDER_CONFIG for two of one name, and for a schedule without what it runs */
export const ladder = ({ executables, serve = false }: LadderOptions): Extension => {
  const twice = executables.find(({ name }, index) => executables.findIndex((one) => one.name === name) !== index)
  if (twice) throw new LadderError('LADDER_CONFIG', `two executables are named '${twice.name}'`, { hint: 'give one of them another name' })
  const schedules = executables.filter((one) => one instanceof Schedule)
  for (const { name, run } of schedules)
    if (!executables.includes(run))
      throw new LadderError('LADDER_CONFIG', `the schedule '${name}' runs '${run.name}', which is not there`, {
        hint: `write ladder({ executables: [${run.name}, ${name}] })`,
      })
  const runs = executables.filter((one) => !(one instanceof Schedule))
  return {
    name: 'ladder',
    // One agent may be asked in several of them.
    agents: [...new Set(executables.flatMap(({ agents }) => agents))],
    ...(serve && { commands: ladderCommands(runs) }),
    machines: Object.fromEntries(executables.map(({ name, machine }) => [name, machine])),
    async start({ runtime, transport: { registry }, environment: { clock, log } }) {
      const bound: Bound = { runtime, registry, clock, warn: (facts, message) => log.warn(facts, message) }
      for (const executable of executables) executable.bind(bound)
      await Promise.all(schedules.map((schedule) => schedule.begin()))
      return () => {
        for (const executable of executables) executable.bind(undefined)
      }
    },
  }
}
