export type { TripUsage } from './agent/agent.context.ts'
export { type Agent, agent, judge } from './agent/agent.ts'
export { type AnswerCache, type AnswerStore, type KeptAnswer, memoryAnswers } from './agent/answers.ts'
export type { ApprovalPolicy, JudgedCall } from './agent/approval-policy.ts'
export type { Budget, BudgetExceeded } from './agent/budget.rules.ts'
export type { AgentDefinition } from './agent/definition.ts'
export type { Checked, Guardrail, Guardrails } from './agent/guardrails.ts'
export { type AroundRun, type AroundTool, type AroundTrip, type Middleware, middleware } from './agent/middleware.ts'
export { type SubAgentBudget, type SubAgentDefinition, subAgent } from './agent/sub-agent.ts'
export type { Decision, PendingCall } from './approval.ts'
export type { AroundExecution, RunMiddleware } from './around/middleware.ts'
export type { Heard } from './audience.ts'
export { type Batch, batch } from './batch/batch.ts'
export type { BatchOptions } from './batch/definition.ts'
export type { ToolOptions } from './delegates.ts'
export type { LadderCost, LadderEvent, LadderUsage, Report, ReportStatus, Result } from './envelope.ts'
export { type LadderCategory, type LadderCode, LadderError, type LadderErrorBody, ladderCodes } from './errors.ts'
export type { AnyExecutable, Executable } from './executable.ts'
export type { HistoryMessage, HistoryWindow, RunHistory } from './history.rules.ts'
export { type LadderOptions, ladder } from './ladder.ts'
export type { Handlers } from './listeners.ts'
export type { MemoryDefinition, Tier } from './memory/definition.ts'
export { redisVectors, registryVectors } from './memory/keyed-vectors.ts'
export { memory } from './memory/memory.ts'
export type { MemoryHit, MemoryStore, RecallOptions, RememberOptions } from './memory/memory-store.ts'
export { memoryVectors } from './memory/memory-vectors.ts'
export type { MemoryOptions } from './memory/session-memory.ts'
export { sqliteVectors } from './memory/sqlite-vectors.ts'
export type { Embedder, VectorItem, VectorMatch, VectorMetadata, VectorStore } from './memory/vectors.ts'
export { type Observe, type Observer, setLadderObservers } from './observers.ts'
export type { ExecuteOptions, GoOnOptions } from './options.ts'
export { type Compaction, compacted } from './orchestrator/compaction.rules.ts'
export type { Commands, OrchestratorDefinition, Summarize, SummarizePolicy } from './orchestrator/definition.ts'
export type { CompactOptions, ResumeOptions, TurnOptions, TurnResult } from './orchestrator/options.ts'
export { type Orchestrator, orchestrator } from './orchestrator/orchestrator.ts'
export type { OrchestratorReport, TurnRecord } from './orchestrator/report.rules.ts'
export type { SessionBinding, SessionScope, SessionToolOptions } from './orchestrator/scope.ts'
export type { LockedSession, SessionLock } from './orchestrator/session-lock.ts'
export type { Capability, PlannerDefinition, StepOutcome, StepVerdict } from './planner/definition.ts'
export type { Plan, PlanStep } from './planner/plan.rules.ts'
export { type Planner, type PlannerOptions, planner } from './planner/planner.ts'
export type { Cadence } from './schedule/cadence.ts'
export type { FiringInput, ScheduleDefinition } from './schedule/definition.ts'
export { type PastFiring, type Schedule, schedule } from './schedule/schedule.ts'
export { lenient, type OutputOf, type Schema } from './schema.ts'
export type { DoorOptions } from './serving/door.ts'
export { type Handler, type ServeOptions, serve } from './serving/serve.ts'
export { type LadderDefaults, setLadderDefaults } from './stores/defaults.ts'
export { memorySnapshots, memoryStore } from './stores/memory-store.ts'
export { type RedisClient, type RedisOptions, redisSnapshots, redisStore } from './stores/redis-store.ts'
export { registrySnapshots, registryStore } from './stores/registry-store.ts'
export type { SqlDatabase } from './stores/sql.ts'
export { sqliteSnapshots } from './stores/sqlite-snapshots.ts'
export { sqliteStore } from './stores/sqlite-store.ts'
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
export type { Iteration } from './supervisor/iterations.rules.ts'
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
