/** `ladder()`: workflows, agents and what is built of them, as an extension of a runtime. */
import type { Agent, Extension } from '../index.ts'
import { LadderError } from './errors.ts'
import { type AnyExecutable, Executable } from './executable.ts'
import { anything, flag, isSessionAgent, type KindsOf, oneOf, optionsIn, sessionAgentHint } from './given.ts'
import type { Bound, Neighbour } from './options.ts'
import { Schedule } from './schedule/schedule.ts'
import { ladderCommands } from './serving/commands.ts'

/** What is made of several machines: the sessions of an orchestrator, and their turns. */
type Composed = {
  readonly name: string
  readonly neighbours: Readonly<Record<string, Neighbour>>
  readonly machines: NonNullable<Extension['machines']>
  readonly agents: readonly Agent[]
  bind(bound: Bound | undefined): void
}
type Registered = AnyExecutable | Composed | Schedule

export type LadderOptions = {
  /** Schedules stand beside what they run. */
  executables: readonly Registered[]
  /** Whether the doors of the node serve them, as the commands `ladder.execute`, `ladder.result` and the like. Default: no. */
  serve?: boolean
  /**
   * What to do with runs that another version of their definition has begun. `force`: they go on with this one, from what their journal says; where the states
   * of both do not fit together, the run may be set aside. Default: they are refused, with the code of their drift.
   */
  onDrift?: 'refuse' | 'force'
}

const neighboursOf = (one: Registered): [string, Neighbour][] => {
  if (one instanceof Executable) return [[one.name, one]]
  return 'neighbours' in one ? Object.entries(one.neighbours) : []
}
const machinesOf = (one: Registered) => Object.entries('machines' in one ? one.machines : { [one.name]: one.machine })

/** @throws LadderError LADDER_CONFIG for two executables, or agents, of one name, and for a schedule without what it runs */
export const ladder = (options: LadderOptions): Extension => {
  const { executables: given, serve = false, onDrift = 'refuse' } = checked(options)
  const executables = withCallable(given)
  const kinds = executables.flatMap(machinesOf)
  const [twice] = kinds.find(([kind], index) => kinds.findIndex(([one]) => one === kind) !== index) ?? []
  if (twice !== undefined) throw new LadderError('LADDER_CONFIG', `two executables are named '${twice}'`, { hint: 'give one of them another name' })
  // One agent may be asked in several of them.
  const agents = [...new Set(executables.flatMap((one) => one.agents))]
  const other = agents.find(({ name }, index) => agents.findIndex((one) => one.name === name) !== index)
  if (other)
    throw new LadderError('LADDER_CONFIG', `two agents are named '${other.name}'`, {
      hint: 'give one of them another name: agent({ name }), router({ name }), classifier({ name })',
    })
  const schedules = executables.filter((one) => one instanceof Schedule)
  for (const { name, run } of schedules)
    if (!executables.includes(run))
      throw new LadderError('LADDER_CONFIG', `the schedule '${name}' runs '${run.name}', which is not there`, {
        hint: `write ladder({ executables: [${run.name}, ${name}] })`,
      })
  const runs = given.filter((one) => one instanceof Executable)
  for (const one of executables) if (one instanceof Executable) one.announce()
  return {
    name: 'ladder',
    agents,
    ...(serve && { commands: ladderCommands(runs) }),
    machines: Object.fromEntries(kinds.map(([kind, machine]) => [kind, onDrift === 'force' ? forced(machine) : machine])),
    async start({ runtime, transport: { registry }, environment: { clock, log } }) {
      const named = new Map(executables.flatMap(neighboursOf))
      const bound: Bound = { runtime, registry, clock, neighbour: (name) => named.get(name), warn: (facts, message) => log.warn(facts, message) }
      for (const executable of executables) hosted(executable, bound)
      await Promise.all(schedules.map((schedule) => schedule.begin()))
      return () => {
        for (const executable of executables) left(executable, bound)
      }
    },
  }
}

const kinds: KindsOf<LadderOptions> = { executables: anything, serve: flag, onDrift: oneOf('refuse', 'force') }

const checked = (options: LadderOptions): LadderOptions => {
  const hint = 'write ladder({ executables: [fulfil, desk] }), of what workflow(), agent() and the like returned'
  const given: unknown = (options as LadderOptions | undefined)?.executables
  if (!Array.isArray(given)) throw new LadderError('LADDER_CONFIG', 'ladder() has no list of executables', { hint })
  const strange = given.findIndex((one) => typeof (one as Registered | null)?.bind !== 'function')
  if (strange >= 0)
    throw new LadderError('LADDER_CONFIG', `executables[${strange}] of ladder() is nothing that it can run`, {
      hint: isSessionAgent(given[strange]) ? sessionAgentHint : hint,
    })
  return optionsIn<LadderOptions>(options, kinds, { who: 'ladder()', code: 'LADDER_CONFIG' })
}

/** Runtimes of this process that have one, the newest last: that is where it is executed. */
const hosts = new WeakMap<Registered, Bound[]>()
const hosted = (one: Registered, bound: Bound): void => {
  hosts.set(one, [...(hosts.get(one) ?? []), bound])
  one.bind(bound)
}
const left = (one: Registered, bound: Bound): void => {
  const others = (hosts.get(one) ?? []).filter((other) => other !== bound)
  hosts.set(one, others)
  one.bind(others.at(-1))
}

const forced = (machine: NonNullable<Extension['machines']>[string]) => {
  if (typeof machine === 'function') return machine
  return 'machine' in machine ? { ...machine, onDrift: 'force' as const } : { machine, onDrift: 'force' as const }
}

/** With those that code of them may call by name. */
const withCallable = (executables: readonly Registered[]): readonly Registered[] => {
  const all = new Set(executables)
  // A set that grows is gone through to its new end.
  for (const executable of all) if (executable instanceof Executable) for (const one of executable.callable) all.add(one)
  return [...executables, ...[...all].filter((one) => !executables.includes(one))]
}
