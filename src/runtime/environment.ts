/** The environment of a runtime: that of the system, what its options have instead, and what is observed in it. */
import type { Environment } from '../contracts/environment.ts'
import { failPointsFrom } from './fail-points.ts'
import type { RuntimeOptions } from './options.ts'
import { exportRuns } from './otel.ts'
import { RunTraces } from './run-traces.ts'
import { logWith, stderrLogger, systemEnvironment } from './system-environment.ts'

/** @param me the node, once it is one: each line of its log says so */
export const environmentOf = (options: Pick<RuntimeOptions, 'environment'>, me: () => string | undefined) => {
  const { variables = process.env } = options.environment ?? {}
  const system = systemEnvironment({ log: options.environment?.log ?? stderrLogger(variables.STATECAST_LOG || undefined) })
  const given: Environment = { ...system, failPoints: failPointsFrom(variables.STATECAST_FAILPOINTS, system.clock), ...options.environment }
  const traces = new RunTraces(given.clock, exportRuns(given.log))
  const node = () => {
    const name = me()
    return name === undefined ? {} : { node: name }
  }
  const environment: Environment = { ...given, tracing: given.tracing ?? traces, log: logWith(given.log, node) }
  return { environment, traces }
}
