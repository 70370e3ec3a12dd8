export type { LadderEvent, LadderUsage, Report, ReportStatus, Result } from './envelope.ts'
export { type LadderCategory, type LadderCode, LadderError, type LadderErrorBody, ladderCodes } from './errors.ts'
export { type Executable, type LadderOptions, ladder } from './ladder.ts'
export type { Handlers, Streamed } from './streamed.ts'
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
export { type ExecuteOptions, type Workflow, workflow } from './workflow/workflow.ts'
