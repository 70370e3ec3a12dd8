/** What is wrong with a workflow, if anything is. */
import { checkWritten, placeholderKind } from '../agent/placeholders.ts'
import { commonKinds } from '../audience.ts'
import { tellEvent } from '../awaited.ts'
import { LadderError } from '../errors.ts'
import { Executable } from '../executable.ts'
import {
  anything,
  code,
  count,
  either,
  isSessionAgent,
  type Kind,
  type KindsOf,
  list,
  meantBy,
  ms,
  oneOf,
  optionsIn,
  record,
  schema,
  sessionAgentHint,
  shown,
} from '../given.ts'
import { isKindName } from '../names.rules.ts'
import { isSnapshotStore } from '../stores/mirror.ts'
import { msOf } from '../times.rules.ts'
import { type AnyStep, type AnyWork, type AnyWorkflow, childrenOf, isWork, type Retry, type WaitStep } from './definition.ts'

export const workflowKinds: KindsOf<AnyWorkflow> = {
  ...commonKinds,
  input: schema,
  state: record('{ count: 0 }'),
  steps: anything,
  output: code('({ state }) => state.text'),
  retry: record('{ attempts: 3 }'),
  nextStep: code("({ state }) => ({ goto: 'charge' })"),
  maxSteps: count(1),
  middleware: list,
  snapshotStore: anything,
}

const retryKinds: KindsOf<Retry> = {
  attempts: count(1),
  backoff: either(oneOf('none', 'linear', 'exponential'), code('(attempt) => 1000 * attempt')),
  retryOn: code("(error) => error.code !== 'DECLINED'"),
}

/** @throws LadderError with the code of its rung */
export const checkedRetry = (retry: Retry | undefined, name: string, of: 'WORKFLOW_ERROR' | 'BATCH_CONFIG'): Retry | undefined =>
  retry === undefined ? undefined : optionsIn<Retry>(retry, retryKinds, { who: `retry of '${name}'`, code: of })

const stepName = /^[A-Za-z][\w-]{0,63}$/

/** @returns its steps without what is undefined @throws LadderError WORKFLOW_ERROR naming what is wrong with it */
export const checkedWorkflow = (definition: AnyWorkflow): AnyWorkflow => {
  const { name, steps } = definition
  if (!isKindName(name))
    throw wrong(`'${String(name).slice(0, 40)}' is no name of a workflow`, 'use lower-case letters, digits and hyphens, at most 32')
  if (!Array.isArray(steps) || steps.length === 0)
    throw wrong(`the workflow '${name}' has no steps`, "write steps: [{ name: 'charge', run: async ({ input }) => … }]")
  if (definition.snapshotStore !== undefined && !isSnapshotStore(definition.snapshotStore))
    throw wrong(`snapshotStore of '${name}' is no store`, 'give memorySnapshots(), sqliteSnapshots(…) or one of your own')
  checkedRetry(definition.retry, name, 'WORKFLOW_ERROR')
  const seen = new Set<string>()
  const checked = (steps as readonly AnyStep[]).map(defined)
  for (const [index, step] of checked.entries()) {
    if (typeof step !== 'object' || step === null || Array.isArray(step))
      throw wrong(`steps[${index}] of '${name}' is no step`, "write { name: 'charge', run: async ({ input }) => … }")
    for (const one of [step, ...childrenOf(step)]) {
      // Records of steps are found by name.
      if (typeof one?.name !== 'string' || !stepName.test(one.name) || one.name in Object.prototype)
        throw wrong(
          `'${String(one?.name).slice(0, 40)}' is no name of a step of '${name}'`,
          'begin with a letter; letters, digits, _ and - may follow; no name that each object has, such as constructor',
        )
      if (seen.has(one.name)) throw wrong(`two steps of '${name}' are named '${one.name}'`, 'names are unique, those of children included')
      seen.add(one.name)
      checkWork(name, one, one !== step)
    }
  }
  return { ...definition, steps: checked }
}

/** What is undefined is as good as left out. */
const defined = <One>(step: One): One => {
  if (typeof step !== 'object' || step === null || Array.isArray(step)) return step
  const given = Object.fromEntries(Object.entries(step).filter(([, value]) => value !== undefined)) as One & { parallel?: unknown }
  return Array.isArray(given.parallel) ? { ...given, parallel: given.parallel.map(defined) } : given
}

/** What steps say besides what they do. */
const options: Readonly<Record<string, Kind>> = {
  name: anything,
  input: anything,
  placeholders: placeholderKind,
  mergeState: code('(before, children) => before'),
  schema,
  timeoutMs: ms,
  skip: code('({ state }) => state.isDone'),
  before: code('({ state }) => …'),
  after: code('({ state }, output) => …'),
  output: record('{ schema }'),
  retry: either(record('{ attempts: 3 }'), oneOf(false)),
  nextStep: code("({ state }) => ({ goto: 'charge' })"),
  onFailure: code("(context, error) => ({ goto: 'refund' })"),
  onCrash: anything,
}
const outputKinds: KindsOf<NonNullable<AnyWork['output']>> = { extract: code('(result) => result.text'), schema }

const checkWork = (workflow: string, step: AnyStep, isChild: boolean): void => {
  // One that is misspelt, or is none of this kind, would do nothing, and nobody would know.
  const unknown = Object.keys(step).find(
    (key) => !(Object.hasOwn(options, key) || sorts.includes(key)) || (key === 'timeoutMs' && !('waitFor' in step)),
  )
  if (unknown !== undefined)
    throw wrong(
      `the step '${step.name}' of '${workflow}' has '${unknown.slice(0, 40)}', which means nothing there`,
      unknown === 'timeoutMs'
        ? 'it stands beside waitFor, in tools, and in intents of a supervisor'
        : meantBy(unknown, [...Object.keys(options), ...sorts]),
    )
  const who = `the step '${step.name}' of '${workflow}'`
  for (const [option, kind] of Object.entries(options)) {
    const value = (step as unknown as Record<string, unknown>)[option]
    if (value !== undefined && !kind.is(value)) throw wrong(`${option} of ${who} is ${shown(value)}`, `it is ${kind.write}`)
  }
  const { output, retry } = step as Partial<AnyWork>
  if (output !== undefined) optionsIn(output, outputKinds, { who: `output of ${who}`, code: 'WORKFLOW_ERROR' })
  if (retry) checkedRetry(retry, step.name, 'WORKFLOW_ERROR')
  const kinds = sorts.filter((sort) => Object.hasOwn(step, sort))
  if (kinds.length !== 1)
    throw wrong(
      `the step '${step.name}' of '${workflow}' has ${kinds.length === 0 ? 'nothing to do' : kinds.join(' and ')}`,
      `give it one of ${sorts.join(', ')}`,
    )
  if (isChild && !isWork(step))
    throw wrong(`the step '${step.name}' of '${workflow}' cannot stand in another one`, 'children of parallel have run or agent')
  if ('sleep' in step && !isTime(msOf(step.sleep)))
    throw wrong(
      `sleep of the step '${step.name}' of '${workflow}' is ${String(step.sleep)}`,
      "give ms from 0 on, or a time such as '30s', '15m', '6h', '2d'",
    )
  if ('sleepUntil' in step && typeof step.sleepUntil !== 'function')
    throw wrong(`sleepUntil of the step '${step.name}' of '${workflow}' is no function`, 'write sleepUntil: ({ input }) => input.due')
  if ('waitFor' in step) checkWait(workflow, step)
  if ('parallel' in step && (isChild || !Array.isArray(step.parallel) || step.parallel.length === 0))
    throw wrong(`parallel of the step '${step.name}' of '${workflow}' cannot be run`, 'it is a list of steps with run, and stands in no other one')
  if ('run' in step && typeof step.run !== 'function')
    throw wrong(`run of the step '${step.name}' of '${workflow}' is no function`, 'write run: async (context) => …')
  if ('onCrash' in step && !('run' in step && ['idempotent', 'once'].includes(step.onCrash ?? '')))
    throw wrong(
      `onCrash of the step '${step.name}' of '${workflow}' is ${'run' in step ? `'${String(step.onCrash).slice(0, 40)}'` : 'for code alone'}`,
      "write 'once' or 'idempotent' beside run; tools of an agent have an onCrash of their own",
    )
  if ('agent' in step && !(step.agent instanceof Executable))
    throw wrong(
      `agent of the step '${step.name}' of '${workflow}' cannot be asked`,
      isSessionAgent(step.agent) ? sessionAgentHint : 'give what agent() or workflow() of statecast/ladder returned',
    )
  if ('agent' in step && step.input !== undefined && typeof step.input !== 'function')
    throw wrong(`input of the step '${step.name}' of '${workflow}' is no function`, 'write input: ({ state }) => …')
  checkWritten(step as Partial<Extract<AnyWork, { agent: unknown }>>, { who, code: 'WORKFLOW_ERROR' })
}

const sorts = ['run', 'agent', 'parallel', 'sleep', 'sleepUntil', 'waitFor']
const isTime = (ms: unknown): boolean => typeof ms === 'number' && Number.isFinite(ms) && ms >= 0
/** What the run itself is told. */
const ownEvents = ['execute', 'resume', 'cancel', 'ask.reported', tellEvent]

const checkWait = (workflow: string, { name, waitFor, timeoutMs = 0 }: WaitStep<never, never, string>): void => {
  if (typeof waitFor !== 'string' || !/^[\w.:-]{1,64}$/.test(waitFor) || waitFor.startsWith('xstate.') || ownEvents.includes(waitFor))
    throw wrong(
      `the step '${name}' of '${workflow}' cannot wait for '${String(waitFor).slice(0, 40)}'`,
      `name the type of an event, such as 'paid'; ${ownEvents.join(', ')} are the run's own`,
    )
  if (!isTime(timeoutMs)) throw wrong(`timeoutMs of the step '${name}' of '${workflow}' is ${String(timeoutMs)}`, 'it is ms, from 0 on')
}

const wrong = (message: string, hint: string): LadderError => new LadderError('WORKFLOW_ERROR', message, { hint })
