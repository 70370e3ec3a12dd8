/** What `import … from 'statecast/testing'` offers: a runtime whose time, chance and crashes belong to the test. */
export type { Script, ScriptedResponse } from '../models/script.ts'
export { type ScriptedSource, scriptedModel } from '../models/scripted.ts'
export { type FailPointPlan, failPoints } from './fail-points.ts'
export { type LogLine, type TestRuntime, type TestRuntimeOptions, testRuntime, traceOf } from './runtime.ts'
export { seededIds, seededRandom } from './seeded.ts'
export { type VirtualClock, virtualClock } from './virtual-clock.ts'
