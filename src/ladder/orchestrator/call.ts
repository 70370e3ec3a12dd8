/** A call of an orchestrator in the run of an agent: it stands there as a run of its own, whose turn is made by its session. */
import { type AnyStateMachine, assign, type EventObject, enqueueActions, setup } from 'xstate'
import type { z } from 'zod'
import { type Agent, effect, fromTask, now, type Runtime } from '../../index.ts'
import { requireNoCircle } from '../calling/waits.ts'
import type { Report } from '../envelope.ts'
import { LadderError, wordsOf } from '../errors.ts'
import { Executable } from '../executable.ts'
import type { HistoryMessage } from '../history.rules.ts'
import { began, callerOf, hasParent, placeOf, type RunEnd, type RunInput, type RunState, type RunWait, statusOf, waitReport } from '../run.rules.ts'
import { fitted, type Schema } from '../schema.ts'
import { noUsage } from '../usage.rules.ts'
import type { TurnResult } from './options.ts'
import { type Callee, type SessionBinding, type SessionScope, sessionFields, type ToolCall } from './scope.ts'
import { hasEnded } from './session-task.effects.ts'

type CallRun = RunState & { end?: RunEnd }
type Definition = { name: string; inputSchema: z.ZodObject; sessionScope: SessionScope }
type CallerContext = Readonly<Record<string, unknown>>
type Done = EventObject & { output?: unknown; error?: unknown }

/** The actor that has the turn made. */
const turnActor = 'turn()'

export class OrchestratorCall extends Executable<unknown, unknown> {
  readonly type = 'orchestrator'
  protected readonly driftCode = 'ORCHESTRATOR_DRIFT'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  readonly machine: AnyStateMachine
  readonly agents: readonly Agent[] = []
  readonly #orchestrator: Callee
  readonly #definition: Definition

  constructor(orchestrator: Callee, definition: Definition) {
    super()
    this.name = definition.name
    this.version = orchestrator.version
    this.description = orchestrator.description
    this.#orchestrator = orchestrator
    this.#definition = definition
    this.machine = this.#machine()
  }

  /** One turn, of the session that this call joins. Of what the caller brought along only the choice of the session is made. */
  async turn(run: RunInput, context: CallerContext, signal: AbortSignal, waitFor?: ToolCall['waitFor']): Promise<TurnResult<unknown>> {
    const { inputSchema } = this.#definition
    const { sessionId, history = [] } = await this.#session(run, context)
    const input = await fitted(inputSchema, withoutSession(run.input), `what '${this.name}' is given`)
    const call: ToolCall = { ...(run.inside && { inside: run.inside }), ...(waitFor && { waitFor }) }
    return this.#orchestrator.run(input, { sessionId, history, requestId: run.runId, signal }, call).result
  }

  /** A runtime that ends takes nothing with it: the next one attaches to the turn. */
  async #untilMade(run: RunInput, signal: AbortSignal, waitFor: ToolCall['waitFor']): Promise<TurnResult<unknown>> {
    let ended: Runtime | undefined
    for (;;) {
      const runtime: Runtime = await this.#orchestrator.whenBound(ended)
      try {
        return await this.turn(run, this.contextOf(callerOf(run)), signal, waitFor)
      } catch (error) {
        if (!hasEnded(error)) throw error
        ended = runtime
      }
    }
  }

  async #session({ runId, input }: RunInput, context: CallerContext): Promise<SessionBinding> {
    const { sessionScope: scope } = this.#definition
    if (scope === 'fresh') return { sessionId: runId }
    const given = (input ?? {}) as { sessionId?: string; history?: readonly HistoryMessage[] }
    const bound = 'shared' in scope ? (typeof scope.shared === 'function' ? await scope.shared(context) : scope.shared) : (given as SessionBinding)
    const found = typeof bound === 'string' ? { sessionId: bound } : bound
    if (typeof found?.sessionId === 'string' && found.sessionId !== '') return found
    throw new LadderError('TOOL_EXEC_FAILED', `'${this.name}' joins no session: none was bound to this call`, {
      hint: 'bring along what sessionScope.shared needs, or return an id there',
      context: { runId },
    })
  }

  #machine(): AnyStateMachine {
    const turn = fromTask<RunEnd, RunInput>(async ({ input: run, self, signal }) => {
      const wanted = new AbortController()
      // Also where this host gives its actor away: then the turn goes on.
      const leave = (): void =>
        void effect(self)
          .confirm()
          .then(
            () => wanted.abort(signal.reason),
            () => undefined,
          )
      signal.addEventListener('abort', leave, { once: true })
      const { key, report: tell, waits } = effect(self)
      waits(true)
      const waitFor: ToolCall['waitFor'] = async (awaited, waiterOf) => {
        const wait: RunWait = { ask: run.runId, waits: { ...awaited, by: run.runId, work: turnActor, key } }
        await tell(waitReport(wait))
        await requireNoCircle(wait, waiterOf)
      }
      try {
        const { data, error, report } = await this.#untilMade(run, wanted.signal, waitFor)
        return { ...(error ? { error: error.toJSON() } : { data }), report }
      } catch (thrown) {
        return this.#failed(run, thrown)
      }
    })
    return setup({
      types: { context: {} as CallRun, input: {} as RunInput, output: {} as RunEnd },
      actors: { [turnActor]: turn as never },
      actions: {
        end: assign({ end: ({ event }) => (event as Done).output as RunEnd }),
        breakDown: assign({ end: ({ context, event }) => this.#failed(context, (event as Done).error) }),
        /** Whoever holds it remembers which turn it waits for. */
        passReport: enqueueActions(({ context, event, enqueue }) => {
          if (hasParent(context)) enqueue.sendParent(event)
        }),
      },
    }).createMachine({
      id: this.name,
      initial: 'calling',
      context: ({ input }: { input: RunInput }) => began(input, now()),
      output: ({ context }: { context: CallRun }) => context.end,
      states: {
        calling: {
          invoke: {
            id: turnActor,
            src: turnActor,
            input: ({ context: { runId, input, inside } }: { context: CallRun }) => ({ runId, input, ...(inside && { inside }) }),
            onDone: { target: 'ended', actions: ['end'] },
            onError: { target: 'ended', actions: ['breakDown'] },
          },
          on: { 'ask.reported': { actions: ['passReport'] } },
        },
        ended: { type: 'final' },
      },
    } as never) as unknown as AnyStateMachine
  }

  #failed(run: RunInput, thrown: unknown): RunEnd {
    const error =
      thrown instanceof LadderError ? thrown : new LadderError('TOOL_EXEC_FAILED', `'${this.name}' failed: ${wordsOf(thrown)}`, { cause: thrown })
    return { error: error.toJSON(), report: this.refused(run.runId, error, run.inside) }
  }

  protected get takes(): Schema {
    return this.#definition.inputSchema
  }

  protected begin(): object {
    return {}
  }

  protected reportOf(run: RunState): Report {
    return (run as CallRun).end?.report ?? this.refused(run.runId, new LadderError('TOOL_EXEC_FAILED', `'${this.name}' has not ended`))
  }

  protected refused(runId: string, error: LadderError, inside?: RunInput['inside']): Report {
    const at = { runId, input: undefined, startedAt: 0, endedAt: 0, ...(inside && { inside }) }
    const { name } = this
    return {
      ...placeOf(at),
      type: 'orchestrator',
      name,
      status: statusOf(error.toJSON()),
      error: error.toJSON(),
      attempts: 1,
      usage: noUsage,
      children: [],
    }
  }
}

/** Which session is joined is not for the model to say. */
const withoutSession = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null
    ? Object.fromEntries(Object.entries(payload).filter(([key]) => !(sessionFields as readonly string[]).includes(key)))
    : payload
