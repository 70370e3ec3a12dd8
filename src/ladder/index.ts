export { type Agent, agent } from './agent/agent.ts'
export type { AgentDefinition } from './agent/definition.ts'
export type { LadderEvent, LadderUsage, Report, ReportStatus, Result } from './envelope.ts'
export { type LadderCategory, type LadderCode, LadderError, type LadderErrorBody, ladderCodes } from './errors.ts'
export type { AnyExecutable, Decision, Executable, ExecuteOptions, PendingCall, ToolOptions } from './executable.ts'
export { type LadderOptions, ladder } from './ladder.ts'
export type { MemoryDefinition, Tier } from './memory/definition.ts'
export { redisVectors, registryVectors } from './memory/keyed-vectors.ts'
export { memory } from './memory/memory.ts'
export type { MemoryHit, MemoryStore, RecallOptions, RememberOptions } from './memory/memory-store.ts'
export { memoryVectors } from './memory/memory-vectors.ts'
export type { MemoryOptions } from './memory/session-memory.ts'
export { sqliteVectors } from './memory/sqlite-vectors.ts'
export type { Embedder, VectorItem, VectorMatch, VectorMetadata, VectorStore } from './memory/vectors.ts'
export type { OutputOf, Schema } from './schema.ts'
export { type LadderDefaults, setLadderDefaults } from './stores/defaults.ts'
export { memorySnapshots, memoryStore } from './stores/memory-store.ts'
export { type RedisClient, type RedisOptions, redisSnapshots, redisStore } from './stores/redis-store.ts'
export { registrySnapshots, registryStore } from './stores/registry-store.ts'
export type { SqlDatabase } from './stores/sql.ts'
export { sqliteSnapshots } from './stores/sqlite-snapshots.ts'
export { sqliteStore } from './stores/sqlite-store.ts'
export type { CheckpointRow, CheckpointStore, RunSnapshot, SessionRecord, SnapshotStore } from './stores/store.ts'
export type { Handlers, Streamed } from './streamed.ts'
export { type Choice, END, type Intent, type SupervisorContext, type SupervisorDefinition } from './supervisor/definition.ts'
export { type RouterDefinition, router } from './supervisor/router.ts'
export type { Decision as RoutingDecision, IterationRecord, TerminatedBy, Verdict } from './supervisor/supervisor.context.ts'
export { type Supervisor, supervisor } from './supervisor/supervisor.ts'
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
