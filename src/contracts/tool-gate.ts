/** The gate before a tool call: what an author's hooks are asked, and what they answer. */
import type { Logger } from './environment.ts'

/** A call that is about to run. `input` has passed the schema of its tool, with what hooks before have changed. */
export type GatedCall = {
  readonly name: string
  readonly input: unknown
  /** The same whenever this call is looked at again, such as after a crash. */
  readonly callId: string
  readonly session: string
  readonly runId: string
  readonly agent: string
  /** Aborts when the call is cancelled, or the hook has taken too long. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Nothing lets it pass. `params` are merged over the input; `block` says why it must not run, `approval` that a person has to agree. */
export type GateAnswer = { params?: Record<string, unknown>; block?: string; approval?: boolean } | undefined

/** Decides about tool calls. It must change nothing in the world: after a crash it is asked again. One that throws or is late blocks the call. */
export type BeforeTool = {
  /** For the trace and the log. */
  readonly name: string
  /** Higher ones are asked first; default 0, and in the order in which they were given. */
  readonly priority?: number
  /** ms for its answer; default 15,000. */
  readonly timeoutMs?: number
  /** Only calls of these tools; default: all. */
  readonly tools?: readonly string[]
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing lets the call pass
  readonly check: (call: GatedCall) => GateAnswer | void | Promise<GateAnswer | void>
}

/** What all hooks together came to; it is journalled. Where the input was changed, both stand there. */
export type GateVerdict =
  | { kind: 'block'; by: string; reason: string }
  | { kind: 'pass'; adjusted?: { original: unknown; input: unknown; inputHash: string; by: string[] }; needsApproval: boolean }
