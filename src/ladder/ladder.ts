/** `ladder()`: workflows, agents and what is built of them, as an extension of a runtime. */
import type { Extension } from '../index.ts'
import { LadderError } from './errors.ts'
import type { AnyExecutable } from './executable.ts'
import { Schedule } from './schedule/schedule.ts'

/** Schedules stand beside what they run. */
export type LadderOptions = { executables: readonly (AnyExecutable | Schedule)[] }

/** @throws LadderError LADDER_CONFIG for two of one name, and for a schedule without what it runs */
export const ladder = ({ executables }: LadderOptions): Extension => {
  const twice = executables.find(({ name }, index) => executables.findIndex((one) => one.name === name) !== index)
  if (twice) throw new LadderError('LADDER_CONFIG', `two executables are named '${twice.name}'`, { hint: 'give one of them another name' })
  const schedules = executables.filter((one) => one instanceof Schedule)
  for (const { name, run } of schedules)
    if (!executables.includes(run))
      throw new LadderError('LADDER_CONFIG', `the schedule '${name}' runs '${run.name}', which is not there`, {
        hint: `write ladder({ executables: [${run.name}, ${name}] })`,
      })
  return {
    name: 'ladder',
    // One agent may be asked in several of them.
    agents: [...new Set(executables.flatMap(({ agents }) => agents))],
    machines: Object.fromEntries(executables.map(({ name, machine }) => [name, machine])),
    async start({ runtime }) {
      for (const executable of executables) executable.bind(runtime)
      await Promise.all(schedules.map((schedule) => schedule.begin()))
      return () => {
        for (const executable of executables) executable.bind(undefined)
      }
    },
  }
}
