/** The author's code of a supervisor as actors: whatever it throws comes back as a result, so that the chart decides what happens next. */
import type { AnyActorLogic, AnyActorRef } from 'xstate'
import { effect, fromTask } from '../../index.ts'
import { LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'
import { fitted, unfit } from '../schema.ts'
import { type AnySupervisor, type CheckedIntent, END, type SupervisorContext } from './definition.ts'
import { questionFor } from './router.rules.ts'
import { mergeActor, outputActor, routeActor } from './supervisor.chart.rules.ts'
import type { BranchEnd, Chosen, Decision, DecisionSource, Merged, SupervisorRun } from './supervisor.context.ts'

/** What a caller brought along for a run of this process. */
type CallerContext = (runId: string) => Readonly<Record<string, unknown>>
type CodeInput = { run: SupervisorRun; attempt: number }
type Code = SupervisorContext<never, never>
type Scope = { definition: AnySupervisor; intents: readonly CheckedIntent[]; contextOf: CallerContext }

/** By name: each intent, who chooses, what puts branches together, and what makes the data. */
export const supervisorActors = (scope: Scope): Record<string, AnyActorLogic> => ({
  ...Object.fromEntries(scope.intents.map((intent) => [intent.name, branch(intent, scope)])),
  [routeActor]: choose(scope),
  [mergeActor]: merge(scope),
  [outputActor]: conclude(scope),
})

const choose = (scope: Scope): AnyActorLogic => {
  const { definition } = scope
  return fromTask<Chosen, CodeInput>(async ({ input: { run }, self, signal }) => {
    const code = codeContext(scope, { run, signal, self })
    const { answer } = run.going[routeActor] ?? {}
    try {
      if (definition.router && !answer) return { ended: 'asks', input: questionFor(scope, code), state: null }
      if (answer?.error) throw LadderError.from(answer.error)
      if (answer) {
        const { next, reasoning } = (answer.data ?? {}) as { next?: unknown; reasoning?: unknown }
        const said = typeof reasoning === 'string' ? { reasoning } : {}
        return { ended: 'completed', output: { ...decision(scope, 'router', next, 'the router'), ...said } }
      }
      return { ended: 'completed', output: decision(scope, 'route', await definition.route?.(code as never), 'route') }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `${definition.router ? 'the router' : 'route'} of '${definition.name}'`) }
    }
  }) as AnyActorLogic
}

const branch = (intent: CheckedIntent, scope: Scope): AnyActorLogic =>
  fromTask<BranchEnd, CodeInput>(async ({ input: { run }, self, signal }) => {
    const code = codeContext(scope, { run, signal, self })
    const { answer } = run.going[intent.name] ?? {}
    try {
      if (intent.agent && !answer)
        return { ended: 'asks', input: await intent.agent.fit(intent.input ? await intent.input(code) : run.input), state: null }
      if (answer?.error) return { ended: 'failed', error: answer.error }
      return { ended: 'completed', output: answer ? answer.data : withoutUnsafe(await intent.run?.(code)) }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `the intent '${intent.name}'`) }
    }
  }) as AnyActorLogic

/** What branches add to the state, in the order in which they were chosen; then whether it is enough, and who is next. */
const merge = (scope: Scope): AnyActorLogic => {
  const { definition, intents } = scope
  return fromTask<Merged, CodeInput>(async ({ input: { run }, self, signal }) => {
    try {
      const { state, conflicts } = await mergedState(run, intents)
      const code = codeContext(scope, { run: { ...run, state }, signal, self })
      const verdict = (await definition.evaluate?.(code as never)) ?? undefined
      const directive = verdict?.satisfied === true ? undefined : await directiveOf(scope, run, code, verdict?.reassignTo)
      return { ended: 'completed', state, conflicts, ...(verdict && { verdict: { ...verdict } }), ...(directive && { directive }) }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `what follows an iteration of '${definition.name}'`) }
    }
  }) as AnyActorLogic
}

const conclude = ({ definition: { name, output } }: Scope): AnyActorLogic =>
  fromTask<{ ended: 'completed'; data: unknown } | { ended: 'failed'; error: LadderErrorBody }, SupervisorRun>(async ({ input: { state } }) => {
    if (!output) return { ended: 'completed', data: state }
    try {
      return { ended: 'completed', data: await fitted(output, state, `the state of '${name}' at its end`) }
    } catch (thrown) {
      return { ended: 'failed', error: unfit(thrown, `'${name}'`) }
    }
  }) as AnyActorLogic

/** Keys that would not be data, but what an object is made of: no journal takes them. */
const unsafe = new Set(['__proto__', 'constructor', 'prototype'])
const withoutUnsafe = (output: unknown): unknown =>
  typeof output === 'object' && output !== null && !Array.isArray(output)
    ? Object.fromEntries(Object.entries(output).filter(([key]) => !unsafe.has(key)))
    : output

const mergedState = async (
  run: SupervisorRun,
  intents: readonly CheckedIntent[],
): Promise<{ state: Record<string, unknown>; conflicts: string[] }> => {
  const state: Record<string, unknown> = { ...(structuredClone(run.state) as object) }
  const written = new Set<string>()
  const conflicts = new Set<string>()
  for (const name of run.now.decision?.next ?? []) {
    const record = run.now.branches[name]
    const intent = intents.find((one) => one.name === name)
    if (record?.status !== 'completed' || !intent) continue
    const added = intent.output
      ? await fitted(intent.output, record.output, `what '${name}' adds to the state`)
      : intent.agent
        ? undefined
        : record.output
    if (typeof added !== 'object' || added === null) continue
    for (const [key, value] of Object.entries(added)) {
      if (unsafe.has(key)) continue
      if (written.has(key)) conflicts.add(key)
      written.add(key)
      state[key] = value
    }
  }
  return { state, conflicts: [...conflicts] }
}

/** The evaluation comes before what intents say of themselves; of those that ran at once all are heard, and an end of one is the end. */
const directiveOf = async (scope: Scope, run: SupervisorRun, code: Code, reassignTo: unknown): Promise<Decision | undefined> => {
  if (reassignTo !== undefined) return decision(scope, 'evaluate', reassignTo, 'reassignTo of evaluate')
  const said: Decision[] = []
  for (const name of run.now.decision?.next ?? []) {
    const intent = scope.intents.find((one) => one.name === name)
    const next = typeof intent?.next === 'function' ? await intent.next(code, run.now.branches[name]?.output) : intent?.next
    if (next !== undefined) said.push(decision(scope, 'intent.next', next, `next of '${name}'`))
  }
  if (said.length === 0) return undefined
  const isOver = said.some(({ next }) => next.length === 0)
  return { source: 'intent.next', next: isOver ? [] : said.flatMap(({ next }) => next), raw: said.map(({ raw }) => raw) }
}

/** @throws LadderError SUPERVISOR_INVALID_ROUTE */
const decision = ({ definition, intents }: Scope, source: DecisionSource, raw: unknown, who: string): Decision => {
  const known = intents.map(({ name }) => name)
  const names: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
  const invalid = (message: string): LadderError =>
    new LadderError('SUPERVISOR_INVALID_ROUTE', message, {
      hint: `choose one of ${known.join(', ')}, several of them, or END`,
      context: { availableKeys: known, raw: printable(raw), source },
    })
  if (names.length === 0) throw invalid(`${who} of '${definition.name}' chose an empty list`)
  if (names.includes(END)) return { source, next: [], raw: printable(raw) }
  const strange = names.find((name) => typeof name !== 'string' || !known.includes(name))
  if (strange !== undefined || names.includes(undefined))
    throw invalid(`${who} of '${definition.name}' chose ${JSON.stringify(printable(strange))?.slice(0, 80)}, which is not there`)
  const next = [...new Set(names as string[])]
  const { maxFanOut = 10 } = definition
  if (next.length > maxFanOut) throw invalid(`${who} of '${definition.name}' chose ${next.length} at once, and ${maxFanOut} may run`)
  return { source, next, raw: printable(raw) }
}

/** As it can stand in a journal. */
const printable = (raw: unknown): unknown => {
  try {
    return raw === undefined ? null : (JSON.parse(JSON.stringify(raw) ?? 'null') as unknown)
  } catch {
    return String(raw)
  }
}

const supervisorError = (thrown: unknown, what: string): LadderErrorBody =>
  (thrown instanceof LadderError ? thrown : new LadderError('SUPERVISOR_FAILED', `${what} failed: ${wordsOf(thrown)}`, { cause: thrown })).toJSON()

const codeContext = (
  { definition, contextOf }: Scope,
  { run, signal, self }: { run: SupervisorRun; signal: AbortSignal; self: AnyActorRef },
): Code => {
  const { runId, input, state, iterations, feedback, inside, known } = run
  const { goal, maxIterations = 10 } = definition
  return {
    input: structuredClone(input) as never,
    state: structuredClone(state) as never,
    context: { ...contextOf(inside?.rootRunId ?? runId), ...known },
    goal,
    iteration: iterations.length,
    maxIterations,
    iterations,
    feedback,
    runId,
    key: effect(self).key,
    signal,
  }
}
