/** What an iteration comes to, as one effect: the state, whether it is enough, who is next, and the data where nobody is. */
import type { AnyActorLogic } from 'xstate'
import { LadderError } from '../errors.ts'
import type { Artifacts } from '../run.rules.ts'
import { fitted, type Schema } from '../schema.ts'
import { jsonText } from '../stores/json.ts'
import { type Code, codeOf, type Scope, supervisorError } from './code.effects.ts'
import { decisionOf } from './decision.rules.ts'
import type { CheckedIntent } from './definition.ts'
import { mergeActor } from './supervisor.chart.rules.ts'
import { type Decision, firstErrorIn, type Merged, type SupervisorRun, type Verdict } from './supervisor.context.ts'

/** What branches add to the state, in the order in which they were chosen; then whether it is enough, and who is next. */
export const merge = (scope: Scope): AnyActorLogic => {
  const { definition, intents } = scope
  return codeOf<Merged>(scope, mergeActor, async (run, codeFor) => {
    try {
      const { state: merged, conflicts } = await mergedState(run, intents)
      const state = { ...merged, ...(await gathered(scope, run, codeFor({ ...run, state: merged }))) }
      const code = codeFor({ ...run, state })
      const verdict = verdictOf(await definition.evaluate?.(code as never), definition.name)
      const directive = verdict?.satisfied === true ? undefined : await directiveOf(scope, run, code, verdict?.reassignTo)
      const isOver = verdict?.satisfied === true || directive?.next.length === 0 || (scope.isSingle && !firstErrorIn(run.now.branches))
      const made = isOver ? await dataOf(definition, state) : undefined
      return {
        ended: 'completed',
        state,
        conflicts,
        ...(verdict && { verdict: { ...verdict } }),
        ...(directive && { directive }),
        ...(made && { made }),
      }
    } catch (thrown) {
      return { ended: 'failed', error: supervisorError(thrown, `what follows an iteration of '${definition.name}'`) }
    }
  })
}

/** What the run comes to, so that its end is no commit of its own. Where that fails, or is more than JSON, the chart asks once more, and hears why. */
const dataOf = async ({ name, output }: Scope['definition'], state: unknown): Promise<Extract<Merged, { ended: 'completed' }>['made']> => {
  if (!output) return 'state'
  try {
    const data = await fitted(output, structuredClone(state), `the state of '${name}' at its end`)
    jsonText(data, 'the data')
    return { data }
  } catch {
    return undefined
  }
}

/** @throws LadderError SUPERVISOR_FAILED for what says nothing */
const verdictOf = (said: unknown, name: string): Verdict | undefined => {
  if (said === undefined || said === null) return undefined
  if (Object.prototype.toString.call(said) === '[object Object]') return said
  throw new LadderError('SUPERVISOR_FAILED', `evaluate of '${name}' gave ${nameOfKind(said)}`, {
    hint: 'return { satisfied: true }, { reassignTo }, { feedback }, or nothing',
  })
}

/** What is added to the state, or nothing. @throws LadderError SUPERVISOR_FAILED for what has no keys */
export const addition = (output: unknown, who: string): object | undefined => {
  if (output === undefined || output === null) return undefined
  if (Object.prototype.toString.call(output) === '[object Object]') return withoutUnsafe(output) as object
  throw new LadderError('SUPERVISOR_FAILED', `${who} gave ${nameOfKind(output)} where it adds to the state`, {
    hint: 'return an object, such as { text: … }: its keys are put into the state; or nothing',
  })
}

const nameOfKind = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'what has no keys of its own' : `a ${typeof value}`

/** Keys that would not be data, but what an object is made of: no journal takes them. */
const unsafe = new Set(['__proto__', 'constructor', 'prototype'])
export const withoutUnsafe = (output: unknown): unknown =>
  typeof output === 'object' && output !== null && !Array.isArray(output)
    ? Object.fromEntries(Object.entries(output).filter(([key]) => !unsafe.has(key)))
    : output

/** @throws LadderError SCHEMA_VALIDATION_FAILED, SUPERVISOR_FAILED */
export const addedBy = async ({ name }: CheckedIntent, schema: Schema, output: unknown): Promise<object> =>
  addition(await fitted(schema, output, `what '${name}' adds to the state`), `the schema of the intent '${name}'`) ?? {}

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
    const added =
      intent.streamTo !== undefined
        ? { [intent.streamTo]: record.output }
        : intent.output
          ? // Branches that ended in an earlier version have not been asked.
            (record.adds ?? (await addedBy(intent, intent.output, record.output)))
          : intent.agent
            ? undefined
            : record.output
    for (const [key, value] of Object.entries(added ?? {})) {
      if (unsafe.has(key)) continue
      if (written.has(key)) conflicts.add(key)
      written.add(key)
      state[key] = value
    }
  }
  return { state, conflicts: [...conflicts] }
}

/** What tools gave beside their answers, in the order in which those were chosen who called them. @throws LadderError SCHEMA_VALIDATION_FAILED */
const gathered = async (
  { definition: { name, artifacts: { schema, finalizeArtifacts } = {} } }: Scope,
  run: SupervisorRun,
  code: Code,
): Promise<object> => {
  const bags = (run.now.decision?.next ?? []).flatMap((intent) => run.now.branches[intent]?.artifacts ?? [])
  if (bags.length === 0) return {}
  const all: unknown = withoutUnsafe(Object.assign({}, ...bags))
  const fit = schema ? await fitted(schema, all, `what tools gave in an iteration of '${name}'`) : all
  const made = finalizeArtifacts ? await finalizeArtifacts(structuredClone(fit) as Artifacts, code as never) : fit
  return addition(made, `${finalizeArtifacts ? 'finalizeArtifacts' : 'the schema of artifacts'} of '${name}'`) ?? {}
}

/** The evaluation comes before what intents say of themselves; of those that ran at once all are heard, and an end of one is the end. */
const directiveOf = async (scope: Scope, run: SupervisorRun, code: Code, reassignTo: unknown): Promise<Decision | undefined> => {
  if (reassignTo !== undefined) return decisionOf(scope, 'evaluate', reassignTo, 'reassignTo of evaluate')
  const said: Decision[] = []
  const worked = run.now.decision?.next ?? []
  for (const name of worked) {
    const intent = scope.intents.find((one) => one.name === name)
    const next = typeof intent?.next === 'function' ? await intent.next(code, run.now.branches[name]?.output) : intent?.next
    if (next !== undefined) said.push(decisionOf(scope, 'intent.next', next, `next of '${name}'`))
  }
  if (said.length === 0) return undefined
  const raw = said.map((one) => one.raw)
  if (said.some(({ next }) => next.length === 0)) return { source: 'intent.next', next: [], raw }
  // Together they may want more than may run at once.
  const all = said.flatMap(({ next }) => next)
  return { ...decisionOf(scope, 'intent.next', all, `next of '${worked.join("', '")}'`), raw }
}
