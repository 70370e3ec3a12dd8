/** What every rung gives back, and the events that it tells on the way. */
import type { LadderError, LadderErrorBody } from './errors.ts'
import type { Plan } from './planner/plan.rules.ts'

/** US dollars, by channel where the price of each is known. */
export type LadderCost = {
  /** Without what was in the cache, or went into it. */
  input?: number
  output?: number
  cached?: number
  cacheWrite?: number
  total: number
}

/** Tokens, and what those of them cost that have a price. */
export type LadderUsage = {
  /** Those read from the cache of the provider, and put into it, are among them. */
  input: number
  /** With those spent on reasoning. */
  output: number
  total: number
  cachedTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
  /** Left out where no price is known: that is not the same as nothing. */
  cost?: LadderCost
}

export type ReportStatus = 'completed' | 'failed' | 'cancelled' | 'skipped' | 'max-iterations' | 'awaiting-approval' | 'awaiting-input'

/** One node of the tree of what ran; times are ms since the epoch, those of the commits. */
export type Report = {
  /** Of this shape; only the root says it. */
  schemaVersion?: 1
  type: 'agent' | 'tool' | 'workflow' | 'step' | 'supervisor' | 'team' | 'callback' | 'batch' | 'item' | 'planner' | 'orchestrator'
  name: string
  version?: string
  runId: string
  parentRunId?: string
  rootRunId: string
  /** What it belongs to, where it is of a turn of a session. */
  sessionId?: string
  status: ReportStatus
  error?: LadderErrorBody
  startedAt: number
  endedAt: number
  /** ms */
  duration: number
  attempts: number
  /** Of an agent: how often its model has answered, which one did, and which failed before it. */
  trips?: number
  model?: string
  failovers?: readonly { model: string; reason: string }[]
  /** Of a call of a tool: what a person has decided about it. */
  decision?: { decision: 'approve' | 'deny' | 'edit'; by?: string; note?: string }
  /** Its answer was kept from before: no model was asked. */
  cached?: true
  /** Of a supervisor: what ended it, and what was decided and done in each iteration. */
  terminatedBy?: string
  iterations?: readonly object[]
  /** What went wrong beside the run, and did not keep it from its end. */
  warnings?: readonly string[]
  /** Of a planner: the steps that it follows, and how often they were planned anew. */
  plan?: Plan
  replans?: number
  /** What became of its acknowledgement, if it has one. */
  ack?: { status: 'completed' | 'failed'; error?: LadderErrorBody }
  usage: LadderUsage
  children: Report[]
}

/**
 * @property data there when all went well, and of a batch always, as far as its items came to something
 * @property error there when it did not: nothing that happens at run time is thrown
 */
export type Result<Data> = { data?: Data; error?: LadderError; usage: LadderUsage; report: Report }

/**
 * `type` is `workflow.step.completed` and the like; the guides say which there are. Facts of a few events are `unknown`, those of many have a type here.
 * @property delta a piece of an answer, and `kind` whether it is `text` or `reasoning`
 */
export type LadderEvent = { type: string; runId: string; rootRunId: string } & Partial<
  Record<
    'agent' | 'workflow' | 'supervisor' | 'orchestrator' | 'planner' | 'batch' | 'step' | 'tool' | 'callId' | 'sessionId' | 'delta' | 'kind',
    string
  > &
    Record<'iteration' | 'turnIndex', number>
> &
  Record<string, unknown>

const rung = /^(agent|workflow|supervisor|orchestrator|planner|batch)\./

/** Which executable tells an event, as `workflow fulfil`; undefined where it does not say. */
export const wordOf = (event: LadderEvent): string | undefined => {
  const type = rung.exec(event.type)?.[1]
  const name = type === undefined ? undefined : event[type]
  return typeof name === 'string' ? `${type} ${name}` : undefined
}
