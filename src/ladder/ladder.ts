/** `ladder()`: workflows and what is built of them, as an extension of a runtime. */
import type { AnyStateMachine } from 'xstate'
import type { Extension, Runtime } from '../index.ts'
import { LadderError } from './errors.ts'

/** What a runtime runs: its runs are actors of the kind `name`. */
export type Executable = {
  readonly name: string
  readonly machine: AnyStateMachine
  /** Called when a runtime starts with it, and with nothing when that one ends. */
  bind(runtime: Runtime | undefined): void
}
export type LadderOptions = { executables: readonly Executable[] }

/** @throws LadderError WORKFLOW_ERROR for two of one name */
export const ladder = ({ executables }: LadderOptions): Extension => {
  const twice = executables.find(({ name }, index) => executables.findIndex((one) => one.name === name) !== index)
  if (twice) throw new LadderError('WORKFLOW_ERROR', `two executables are named '${twice.name}'`, { hint: 'give one of them another name' })
  return {
    name: 'ladder',
    machines: Object.fromEntries(executables.map(({ name, machine }) => [name, machine])),
    async start({ runtime }) {
      for (const executable of executables) executable.bind(runtime)
      return () => {
        for (const executable of executables) executable.bind(undefined)
      }
    },
  }
}
