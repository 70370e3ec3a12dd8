/** The tool port: what an author writes with `tool()`, and what the tool's machine needs to know of it. */
import type { z } from 'zod'
import type { SandboxLimits, SandboxMode } from './bench.ts'
import type { ClientTool } from './client-tools.ts'
import type { Logger } from './environment.ts'
import type { ModelToolCall, ToolDescription } from './model.ts'
import type { Profile } from './profile.ts'
import type { Route } from './reply.ts'
import type { GatedCall, GateVerdict } from './tool-gate.ts'
import type { Bench, ToolCategory, ToolLayer } from './tool-policy.ts'

/** Of a micro service that serves tools, and of each of its instances: one token of a subject. */
export const instanceName = /^[A-Za-z0-9_-]{1,128}$/

/**
 * What a crash in mid-call means. `retry`: run it again. `idempotent`: run it again with the same key. `once`: never run it again,
 * the outcome is in doubt and a person decides.
 */
export type CrashPolicy = 'retry' | 'idempotent' | 'once'

export type ToolContext = {
  /** The same in every attempt of one call: use it as idempotency key towards the outside. */
  callId: string
  /** 1 for the first attempt; higher after a crash or a retry. */
  attempt: number
  session: string
  runId: string
  /** What the channel of the message tells of the conversation; see `threadContext` of a channel. */
  thread?: Readonly<Record<string, unknown>>
  /**
   * Variables for the processes that this call starts, of its skills and of the environment of its agent: `spawn(…, { env: { ...process.env, ...context.env } })`.
   * What they hold stays with them: it is taken out of results, errors and logs.
   */
  env?: Readonly<Record<string, string>>
  /** Where programs that this call starts are to run, if its agent says nothing else: as it is configured for all agents. */
  sandboxMode?: SandboxMode
  /** Upper limits of those programs, where its agent sets no others: as configured for all agents. */
  sandboxLimits?: SandboxLimits
  /** Which skills its run may use. */
  skills?: Pick<Profile, 'agent' | 'skillFilter' | 'skillsVersion'>
  /** Aborts on cancel, timeout and drain: stop soon. */
  signal: AbortSignal
  /** The whole result of an earlier call of the session, as text, by the reference that a shortened one names. */
  outputOf?(reference: string): Promise<string | undefined>
  /** Shown live to listeners of the session; not stored. */
  progress(message: string): void
  /**
   * Tells those who watch the session something beside the answer, live: what was come upon on the way. It is not stored, and no model reads it.
   * At most 8,000 characters, and 20 in one attempt. Left out where another process serves the tool. @throws RuntimeError bad_request, too_large, overloaded
   */
  sideResult?(result: { question?: string; text: string }): void
  /**
   * What the call gives beside its answer: plain data that no model reads, kept with the result. A supervisor of the ladder puts what tools of its agents
   * write here into its state. At most 1 MiB of JSON. Where another process serves the tool nothing of it comes back.
   */
  artifacts: Record<string, unknown>
  log: Logger
}

/** Without types of its own it stands for a tool of any input: its runner checks the input against its schema first. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools holds tools of all inputs, which `unknown` would refuse
export type Tool<Input = any, Output = unknown> = {
  readonly name: string
  readonly description: string
  /** What it is for, so that rules can name it as `group:<category>`. Default `plugin`, or `messaging` where it has `sends`. */
  readonly category?: ToolCategory
  /** The zod schema of the input; its JSON Schema is what the model sees. */
  readonly input: z.ZodType<Input>
  /** What the model sees where it is not made from `input`: the JSON Schema of an object. */
  readonly jsonSchema?: Record<string, unknown>
  readonly execute: (input: Input, context: ToolContext) => Output | Promise<Output>
  /** Default `once`: the safe side for a tool of which nothing else is known. */
  readonly onCrash: CrashPolicy
  /** ms for one attempt; default 60,000. */
  readonly timeoutMs: number
  /** Attempts in all when the tool throws an error marked retryable; default 1. */
  readonly attemptMax: number
  /** Bytes of JSON that a result may have; default 1 MiB, larger ones fail with tool_output. */
  readonly outputBytesMax: number
  /** Whether a person must agree first; a function decides by the input. Default false. */
  readonly approval: boolean | ((input: Input) => boolean)
  /** For a tool that writes to users itself: what it sends, so that the answer does not say it once more. */
  readonly sends?: (input: Input) => SentByTool | undefined
  /** The machine in which its agent is asked runs it where it can, as an actor of its own; `execute` does elsewhere, such as in a session. */
  readonly delegated?: true
  /** What comes of it is not told to the model, and where all calls of an answer are silent it is not asked again. Errors are told. */
  readonly mode?: 'silent'
  /** Where it comes from, if not from the app: `bench`, `skills`, `service:weather`, `mcp:github`. */
  readonly source?: string
}

/** @property route where it goes, if that is known */
export type SentByTool = { text: string; route?: Route }

/** All that the machine knows of a call, computed once when the model's answer arrives and journalled with it. */
export type PlannedCall = {
  callId: string
  name: string
  /** As the model wrote it, where that was another name. */
  originalName?: string
  /** The checked input, or the raw text when it did not pass. */
  input: unknown
  /** SHA-256 of the canonical JSON of the input: an approval is bound to it. */
  inputHash: string
  needsApproval: boolean
  /** Hooks are asked before it runs. */
  gated?: true
  /** The client runs it: it ends the run. */
  client?: true
  /** As {@link Tool.delegated}. */
  delegated?: true
  /** As {@link Tool.mode}. */
  silent?: true
  onCrash: CrashPolicy
  timeoutMs: number
  attemptMax: number
  /** What its tool says of it to the publisher of a turn, if it succeeds: such as what users have read of it. */
  annotations?: Record<string, unknown>
  /** Why it must not run: answered to the model, never executed. */
  problem?: { code: 'tool_unknown' | 'tool_input' | 'tool_loop'; message: string }
}

/** A planned call under a name of our own: providers use the same `callId` again in later answers. */
export type ToolCall = PlannedCall & { id: string }

/** How a call ended, as the model and the trace see it. `id` is ours, `callId` the model's. */
export type ToolOutcome = {
  id: string
  callId: string
  name: string
  output: unknown
  isError: boolean
  status: 'completed' | 'failed' | 'cancelled' | 'denied' | 'skipped' | 'in_doubt'
}

/** The tool that reads what was left out of a long result. */
export const readOutputName = 'read_output'

/** The tools of one agent, by name. With sources of others among them they come and go: each method answers for the moment in which it is asked. */
export interface Tools {
  readonly names: readonly string[]
  /**
   * Looks for tools that have come up; left out where none can. Without names it waits only until the first look is over; with names it looks
   * again if one of them is not there. Never throws.
   */
  discover?(names?: readonly string[]): Promise<void>
  get(name: string): Tool | undefined
  /** Which of them a run may use that these rules hold for, and why not the others. @param model the reference of the model that is asked */
  bench(layers: readonly ToolLayer[] | undefined, model: string): Bench
  /** The tool that a call is for, by what the model wrote: nothing where none or more than one fits. */
  nameFor(call: Pick<ModelToolCall, 'name' | 'callId'>): string | undefined
  /**
   * For the model: all tools, or the named ones in that order. @param model reference of the model that is asked, whose provider may take less of a schema
   * @throws RuntimeError tool_unknown
   */
  describe(names?: readonly string[], model?: string): ToolDescription[]
  /**
   * Checks the calls of one answer; never throws, a bad call carries its `problem`.
   * @param names the tools this agent may use; a call of another one is tool_unknown. Default: all
   * @param clientTools what the client runs besides; a tool of the agent with the same name wins
   */
  plan(calls: readonly ModelToolCall[], names?: readonly string[], clientTools?: readonly ClientTool[]): PlannedCall[]
  /** Asks the hooks of the agent about a planned call; one that fails blocks it. */
  check(planned: PlannedCall, call: Omit<GatedCall, 'name' | 'input'>): Promise<GateVerdict>
  /**
   * One attempt of one call. @param confirm asked right before the tool acts; what it rejects with ends the attempt @returns plain JSON
   * @throws RuntimeError tool_unknown (retryable, if it may come up again), tool_input, tool_failed (`retryable` as the tool said), tool_timeout,
   * tool_output, tool_lost, cancelled
   */
  run(planned: PlannedCall, context: ToolContext, confirm?: () => Promise<void>): Promise<unknown>
}
