/** The author's code of a supervisor as it is called: what it is given, and what is made of what it throws. */
import type { AnyActorLogic, AnyActorRef } from 'xstate'
import { effect, fromTask, type Placeholders } from '../../index.ts'
import { filling } from '../agent/placeholders.ts'
import { type Calls, withCalls } from '../calling/calls.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { checkedHistory, type HistoryMessage, handedDown, type RunHistory, readBy } from '../history.rules.ts'
import { callerOf } from '../run.rules.ts'
import type { Mirror } from '../stores/mirror.ts'
import type { AnySupervisor, CheckedIntent, SupervisorContext } from './definition.ts'
import type { BranchEnd, Chosen, Merged, SupervisorRun } from './supervisor.context.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
type CodeInput = { run: SupervisorRun; attempt: number }
export type Code = SupervisorContext<never, never>
/** @property isSingle one decision and one dispatch are all */
export type Scope = {
  definition: AnySupervisor
  intents: readonly CheckedIntent[]
  isSingle: boolean
  contextOf: CallerContext
  mirror: SupervisorMirror | undefined
}
export type SupervisorMirror = Mirror<SupervisorRun, Chosen | BranchEnd | Merged>

/** A piece of work: what it does is given its code, and may say what of the run that code is to see. */
export const codeOf = <End extends object>(
  scope: Scope,
  work: string,
  doing: (run: SupervisorRun, codeFor: (run: SupervisorRun) => Code) => Promise<End>,
): AnyActorLogic =>
  fromTask<End, CodeInput>(async ({ input: { run }, self, signal, emit }) => {
    const end = await withCalls(run, { name: scope.definition.name, work, self, signal, emit }, (calls) =>
      doing(run, (seen) => codeContext(scope, { run: seen, signal, self, calls })),
    )
    await scope.mirror?.settled(run, work, end as unknown as Merged, { signal, emit })
    return end
  }) as AnyActorLogic

export const supervisorError = (thrown: unknown, what: string): LadderErrorBody =>
  (thrown instanceof LadderError ? thrown : new LadderError('SUPERVISOR_FAILED', `${what} failed: ${wordsOf(thrown)}`, { cause: thrown })).toJSON()

type Given = { run: SupervisorRun; signal: AbortSignal; self: AnyActorRef; calls: Calls }

const codeContext = (scope: Scope, given: Given): Code => {
  const { definition, contextOf } = scope
  const { run, signal, self, calls } = given
  const { runId, input, state, iterations, feedback, history, known } = run
  const { goal, maxIterations = 10 } = definition
  return {
    input: structuredClone(input) as never,
    state: structuredClone(state) as never,
    context: known ? Object.freeze({ ...contextOf(callerOf(run)), ...known }) : contextOf(callerOf(run)),
    goal,
    history: readBy(history, 'agents'),
    iteration: iterations.length,
    maxIterations,
    iterations,
    chosen: run.now.decision?.next ?? [],
    feedback,
    runId,
    key: effect(self).key,
    signal,
    run: (executable, value, options) => calls.stream(executable, value, options).result,
    dispatch: (name, value) => dispatched(scope, given, name, value),
  }
}

/** An intent at work inside of another one's code. */
const dispatched = async (scope: Scope, given: Given, name: string, value: unknown): ReturnType<Code['dispatch']> => {
  const { definition, intents } = scope
  const { run, calls } = given
  const intent = intents.find((one) => one.name === name)
  if (!intent) {
    const known = intents.map((one) => one.name)
    throw new LadderError('SUPERVISOR_INVALID_ROUTE', `code of '${definition.name}' dispatches '${String(name).slice(0, 80)}', which is not there`, {
      hint: `dispatch one of ${known.join(', ')}`,
      context: { availableKeys: known, source: 'dispatch' },
    })
  }
  const seen = value === undefined ? run : { ...run, input: value }
  const broken = (thrown: unknown) => LadderError.from(supervisorError(thrown, `the intent '${name}'`))
  return calls.enter(
    name,
    async (inner) => {
      const { code, own } = await reading(intent, seen, codeContext(scope, { ...given, run: seen, calls: inner }))
      if (!intent.agent) return intent.run?.(value === undefined ? await withInput(intent, code) : code)
      const input = value ?? (intent.input ? await intent.input(code) : run.input)
      const history = own ?? readBy(run.history, 'agents')
      const told = { ...((history.length > 0 || own) && { history }), ...(await beside(intent, code)) }
      const { data, error } = await inner.stream(intent.agent, input, told).result
      if (error) throw error
      return data
    },
    broken,
  )
}

/** What an intent picks of what was said before comes in the place of what all agents are told. */
export const reading = async (
  { name, history }: CheckedIntent,
  run: SupervisorRun,
  code: Code,
): Promise<{ code: Code; own: readonly HistoryMessage[] | undefined }> => {
  if (!history || !run.history) return { code, own: undefined }
  const whole = run.history.whole ?? run.history.agents
  const own = checkedHistory(await history({ ...code, history: whole }), `history of '${name}'`)
  return { code: { ...code, history: own }, own }
}

/** What is told to its agent beside the input. @throws LadderError SUPERVISOR_FAILED */
export const beside = (intent: CheckedIntent, code: Code): Promise<{ placeholders?: Placeholders }> =>
  filling(intent, code, { who: `the intent '${intent.name}'`, code: 'SUPERVISOR_FAILED' })

/** What its code reads as the input. */
export const withInput = async ({ input }: CheckedIntent, code: Code): Promise<Code> =>
  input ? { ...code, input: (await input(code)) as never } : code

export const toldInside = ({ agent }: CheckedIntent, run: SupervisorRun, own: readonly HistoryMessage[] | undefined): { history?: RunHistory } =>
  agent ? handedDown(agent, readBy(run.history, 'agents'), own) : {}
