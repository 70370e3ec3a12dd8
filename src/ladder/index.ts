export { type Agent, agent } from './agent/agent.ts'
export type { AgentDefinition } from './agent/definition.ts'
export { type Batch, batch } from './batch/batch.ts'
export type { BatchOptions } from './batch/definition.ts'
export type { LadderCost, LadderEvent, LadderUsage, Report, ReportStatus, Result } from './envelope.ts'
export { type LadderCategory, type LadderCode, LadderError, type LadderErrorBody, ladderCodes } from './errors.ts'
export type { AnyExecutable, Decision, Executable, ExecuteOptions, Heard, PendingCall, ToolOptions } from './executable.ts'
export type { HistoryMessage, HistoryWindow, RunHistory } from './history.rules.ts'
export { type LadderOptions, ladder } from './ladder.ts'
export type { Handlers } from './listeners.ts'
export { type Observe, type Observer, setLadderObservers } from './observers.ts'
export type { OutputOf, Schema } from './schema.ts'
export type { DoorOptions } from './serving/door.ts'
export { type Handler, type ServeOptions, serve } from './serving/serve.ts'
export { type LadderDefaults, setLadderDefaults } from './stores/defaults.ts'
export { memorySnapshots, memoryStore } from './stores/memory-store.ts'
export { registrySnapshots, registryStore } from './stores/registry-store.ts'
export type { CheckpointRow, CheckpointStore, RunSnapshot, SessionRecord, SnapshotStore } from './stores/store.ts'
export type { Streamed } from './streamed.ts'
export {
  type Ack,
  type Choice,
  type Classified,
  type Classifier,
  END,
  type Intent,
  type SupervisorContext,
  type SupervisorDefinition,
} from './supervisor/definition.ts'
export { fanOut } from './supervisor/fan-out.ts'
export { classifier, type RouterDefinition, router } from './supervisor/router.ts'
export type { Decision as RoutingDecision, IterationRecord, TerminatedBy, Verdict } from './supervisor/supervisor.context.ts'
export { type Supervisor, supervisor } from './supervisor/supervisor.ts'
export { type TeamDefinition, team } from './supervisor/team.ts'
export type { Price } from './usage.rules.ts'
export type {
  Onward,
  ParallelStep,
  Retry,
  SleepStep,
  SleepUntilStep,
  Step,
  StepContext,
  WaitStep,
  Work,
  WorkflowDefinition,
  WorkStep,
} from './workflow/definition.ts'
export { type Workflow, workflow } from './workflow/workflow.ts'
