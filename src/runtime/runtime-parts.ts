/** The parts of a runtime together with what its users hold. */
import type { ExtensionControl } from './extension-report.ts'
import type { Runtime } from './interface.ts'
import type { Parts } from './parts.ts'

export type RuntimeParts = Parts & {
  /** What users hold of it. */
  runtime: Runtime
  extensions: ExtensionControl
}

const known = new WeakMap<Runtime, RuntimeParts>()

export const withParts = <Made extends Runtime>(runtime: Made, parts: RuntimeParts): Made => {
  known.set(runtime, parts)
  return runtime
}

/** For the test kit, which looks where users cannot and ends what nobody else may: everybody else is handed what they need. */
export const partsOf = (runtime: Runtime): RuntimeParts => known.get(runtime) as RuntimeParts
