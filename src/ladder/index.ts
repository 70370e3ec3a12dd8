export type { TripUsage } from './agent/agent.context.ts'
export { type Agent, agent } from './agent/agent.ts'
export { type AnswerCache, type AnswerStore, type KeptAnswer, memoryAnswers } from './agent/answers.ts'
export type { Budget } from './agent/budget.rules.ts'
export type { AgentDefinition } from './agent/definition.ts'
export type { Checked, Guardrail, Guardrails } from './agent/guardrails.ts'
export { type AroundRun, type AroundTool, type AroundTrip, type Middleware, middleware } from './agent/middleware.ts'
export type { LadderCost, LadderEvent, LadderUsage, Report, ReportStatus, Result } from './envelope.ts'
export { type LadderCategory, type LadderCode, LadderError, type LadderErrorBody, ladderCodes } from './errors.ts'
export type { AnyExecutable, Decision, Executable, ExecuteOptions, PendingCall, ToolOptions } from './executable.ts'
export type { Heard } from './heard.ts'
export { type LadderOptions, ladder } from './ladder.ts'
export type { Handlers } from './listeners.ts'
export { type Observe, type Observer, setLadderObservers } from './observers.ts'
export type { OutputOf, Schema } from './schema.ts'
export type { Streamed } from './streamed.ts'
export { type Choice, END, type Intent, type SupervisorContext, type SupervisorDefinition } from './supervisor/definition.ts'
export { type RouterDefinition, router } from './supervisor/router.ts'
export type { Decision as RoutingDecision, IterationRecord, TerminatedBy, Verdict } from './supervisor/supervisor.context.ts'
export { type Supervisor, supervisor } from './supervisor/supervisor.ts'
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
