/** The machines that an author brings, made durable. */

import type { DeterminismCheck } from '../actors/index.ts'
import { type MachineOptions, type Registration, registerMachine } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'

import { RuntimeError } from '../contracts/errors.ts'
import { nearest } from '../tools/index.ts'
import type { Machines } from './interface.ts'

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Every option beside the machine, with what it must be. */
const shapes: Record<keyof MachineOptions, [fits: (value: unknown) => boolean, shape: string]> = {
  events: [(value) => isFunction((value as { safeParse?: unknown } | null)?.safeParse), 'a zod schema'],
  strict: [(value) => typeof value === 'boolean', 'true or false'],
  onDrift: [(value) => value === 'refuse' || value === 'force', "'refuse' or 'force'"],
  noted: [isFunction, 'a function of an event'],
  defaultInput: [isFunction, 'a function of an id'],
}

/** The compiler does not notice what is too much beside a machine. @throws RuntimeError bad_request */
const checkOptions = (kind: string, options: object): MachineOptions => {
  for (const [name, value] of Object.entries(options)) {
    const field = `machines.${kind}.${name}`
    const known = Object.hasOwn(shapes, name) ? shapes[name as keyof MachineOptions] : undefined
    if (!known) {
      const names = Object.keys(shapes)
      const [near] = nearest(name, names)
      throw new RuntimeError('bad_request', `a machine is registered with no option '${name.slice(0, 80)}'`, {
        field,
        hint: near ? `did you mean '${near}'?` : `there are: ${names.join(', ')}`,
      })
    }
    const [fits, shape] = known
    if (value !== undefined && !fits(value))
      throw new RuntimeError('bad_request', `the option '${name}' of a machine does not fit`, { field, hint: `it is ${shape}` })
  }
  return options
}

/** @param taken kinds that are ours @param look how it is found out whether they are the same every time @throws RuntimeError conflict, not_durable, bad_request */
export const userMachines = (
  { machines = {}, onDrift }: { machines?: Machines; onDrift?: MachineOptions['onDrift'] },
  taken: readonly string[],
  look?: () => DeterminismCheck | undefined,
) =>
  Object.entries(machines).map(([kind, entry]) => {
    if (taken.includes(kind))
      throw new RuntimeError('conflict', `the kind '${kind}' is taken`, { field: 'machines', hint: 'choose another name for your machine' })
    return { ...registerEntry(kind, entry, definedOf({ onDrift })), determinismCheck: look?.() }
  })

/** @param usual options where the entry has none of its own @throws RuntimeError not_durable, bad_request */
export const registerEntry = (kind: string, entry: Machines[string], usual: MachineOptions = {}): Registration => {
  const { machine, ...options } = 'machine' in entry ? entry : { machine: entry }
  return registerMachine(kind, machine, { ...usual, ...checkOptions(kind, options) })
}
