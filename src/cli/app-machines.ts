/** The machines of an app by the kind of their actors: its own, and those that its extensions bring. What an extension makes of a runtime is there only in one. */
import type { AnyStateMachine } from 'xstate'
import type { RuntimeOptions } from '../runtime.ts'

export const appMachines = ({ machines = {}, extensions = [] }: RuntimeOptions): Record<string, AnyStateMachine> => {
  const found: Record<string, AnyStateMachine> = {}
  const brought = extensions.map((extension) => (typeof extension === 'string' ? {} : (extension.machines ?? {})))
  for (const [kind, entry] of [machines, ...brought].flatMap((some) => Object.entries(some)))
    if (typeof entry !== 'function') found[kind] = 'machine' in entry ? entry.machine : entry
  return found
}
