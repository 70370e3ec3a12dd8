/** The author's code of each step as an actor: whatever it throws comes back as a result, so that the chart decides what happens next. */
import { isDeepStrictEqual } from 'node:util'
import type { AnyActorLogic } from 'xstate'
import { type EffectInfo, fromTask } from '../../index.ts'
import { filling } from '../agent/placeholders.ts'
import { endCall } from '../calling/calls.effects.ts'
import { callEndActor } from '../calling/work.chart.rules.ts'
import { inShort, LadderError, wordsOf } from '../errors.ts'
import { shown } from '../given.ts'
import { handedDown, readBy } from '../history.rules.ts'
import { kept, recordOf } from '../kept.rules.ts'
import { fitted, type Schema } from '../schema.ts'
import type { Mirror } from '../stores/mirror.ts'
import { type CallerContext, type Code, codeOf, reckoning, type Scope } from './code.effects.ts'
import { type AnyStep, type AnyWork, type AnyWorkflow, childrenOf, isWork, type Onward, type Retry } from './definition.ts'
import { outputActor, untilActor } from './workflow.chart.rules.ts'
import type { RunContext, StepEnd } from './workflow.context.ts'

const pauseMaxMs = 30_000

/** An actor for each step, one for each child, and one that makes the output. */
export const stepActors = (
  definition: AnyWorkflow,
  contextOf: CallerContext,
  mirror?: Mirror<RunContext, StepEnd>,
): Record<string, AnyActorLogic> => {
  const names = definition.steps.map(({ name }) => name)
  const leads = (step: AnyStep) => new Leads(definition, step, names)
  const all = definition.steps.flatMap((step) => [...childrenOf(step).map(({ name }) => name), step.name])
  const scope = { definition, names: all, contextOf, mirror }
  const logic = (step: AnyStep): AnyActorLogic => {
    if (isWork(step)) return work(step, scope, leads(step))
    return 'parallel' in step ? join(step, scope, leads(step)) : rest(step, scope, leads(step))
  }
  return {
    ...Object.fromEntries(definition.steps.map((step) => [step.name, logic(step)])),
    ...Object.fromEntries(definition.steps.flatMap(childrenOf).map((child) => [child.name, work(child, scope)])),
    ...Object.fromEntries(
      definition.steps.flatMap((step) => ('sleepUntil' in step ? [[untilActor(step.name), until(step, scope, leads(step))]] : [])),
    ),
    [callEndActor]: endCall,
    [outputActor]: fromTask<unknown, RunContext>(async ({ input: { input, state, steps, last } }) => {
      if (!definition.output) return last === undefined ? undefined : kept(steps, last)?.output
      let records: Code['steps'] | undefined
      return definition.output({
        input: input as never,
        state: structuredClone(state) as never,
        get steps() {
          records ??= recordOf(steps, all)
          return records
        },
      })
    }),
  }
}

/** Where a step leads in the words of its author, checked: a name that is not there is told at once. */
class Leads {
  readonly #definition: AnyWorkflow
  readonly #step: AnyStep
  readonly #names: readonly string[]

  constructor(definition: AnyWorkflow, step: AnyStep, names: readonly string[]) {
    this.#definition = definition
    this.#step = step
    this.#names = names
  }

  async after(code: Code, output: unknown): Promise<Onward> {
    const own = await this.#asked('nextStep', () => this.#step.nextStep?.(code, output))
    return own ?? this.#asked('nextStep of the workflow', () => this.#definition.nextStep?.(code, output))
  }

  onFailure(code: Code, error: LadderError): Promise<Onward> {
    return this.#asked('onFailure', () => this.#step.onFailure?.(code, error))
  }

  async #asked(hook: string, ask: () => Onward | Promise<Onward>): Promise<Onward> {
    const { name } = this.#step
    let answer: Onward
    try {
      answer = await ask()
    } catch (cause) {
      throw new LadderError('WORKFLOW_INVALID_GOTO', `${hook} of '${name}' threw: ${wordsOf(cause)}`, { cause, context: { step: name } })
    }
    if (answer === undefined || answer === null) return undefined
    if (typeof answer === 'object' && 'end' in answer && answer.end === true) return { end: true }
    if (typeof answer === 'object' && 'goto' in answer && this.#names.includes(answer.goto)) return { goto: answer.goto }
    throw new LadderError('WORKFLOW_INVALID_GOTO', `${hook} of '${name}' leads to ${inShort(answer)}, which is not there`, {
      hint: `answer { goto: one of ${this.#names.slice(0, 20).join(', ')} }, { end: true }, or nothing`,
      context: { step: name, steps: this.#names },
    })
  }
}

const work = (step: AnyWork, scope: Scope, leads?: Leads): AnyActorLogic =>
  codeOf(scope, step.name, async ({ run, code, info }) => {
    const { attempt, signal } = code
    const retry = step.retry === false ? undefined : { ...scope.definition.retry, ...step.retry }
    try {
      const { answer } = run.going[step.name] ?? {}
      if ('run' in step && step.onCrash === 'once') await firstTime(step.name, info)
      if (!answer && (await step.skip?.(code))) return { ended: 'skipped', ...onwardOf(await leads?.after(code, undefined)) }
      if (!answer) await step.before?.(code)
      if ('agent' in step && !answer) {
        const input = await step.agent.fit(step.input ? await step.input(code) : code.input)
        const filled = await filling(step, code, { who: `the step '${step.name}'`, code: 'STEP_FAILED' })
        return { ended: 'asks', input, state: code.state, ...handedDown(step.agent, readBy(run.history, 'agents')), ...filled }
      }
      if (answer?.error) throw LadderError.from(answer.error)
      const output = await checked(step, 'run' in step ? await step.run(code) : answer?.data)
      await step.after?.(code, output)
      return { ended: 'completed', output, state: code.state, ...onwardOf(await leads?.after(code, output)) }
    } catch (thrown) {
      const error = stepError(step.name, thrown)
      if (error.code === 'WORKFLOW_INVALID_GOTO') return failed(error)
      if (error.code === 'STEP_IN_DOUBT') return afterFailure(error, code, leads)
      try {
        const again = attempt < (retry?.attempts ?? 1) && !signal.aborted && (retry?.retryOn?.(thrown) ?? true)
        if (again) return failed(error, { again: { pauseMs: pauseAfter(attempt, retry) } })
      } catch (cause) {
        return failed(
          new LadderError('STEP_FAILED', `retry of the step '${step.name}' threw: ${wordsOf(cause)}`, { cause, context: { step: step.name } }),
        )
      }
      return afterFailure(error, code, leads)
    }
  })

/** A process that was frozen may have been replaced meanwhile. @throws LadderError STEP_IN_DOUBT where it ran before; RuntimeError fenced, closed */
const firstTime = async (step: string, { restarted, confirm }: Pick<EffectInfo, 'restarted' | 'confirm'>): Promise<void> => {
  if (!restarted) return confirm()
  throw new LadderError('STEP_IN_DOUBT', `the process ended while the step '${step}' was at work; it may or may not have done its work`, {
    hint: 'look at what it should have changed; resume() runs it again, and onFailure may lead elsewhere',
    context: { step },
  })
}

/** The children have ended: what they did to the state is put together, unless one of them failed. */
const join = (step: Extract<AnyStep, { parallel: unknown }>, scope: Scope, leads: Leads): AnyActorLogic =>
  codeOf(scope, step.name, async ({ run, code }) => {
    const broken = step.parallel.map(({ name }) => kept(run.steps, name)?.error).find((error) => error !== undefined)
    if (broken) return afterFailure(LadderError.from(broken), code, leads)
    try {
      const before = structuredClone(run.state)
      const state = step.mergeState
        ? await step.mergeState(before as never, structuredClone(run.branches) as never)
        : merged(
            before,
            step.parallel.map(({ name }) => run.branches[name] ?? before),
          )
      const output = Object.fromEntries(step.parallel.map(({ name }) => [name, kept(run.steps, name)?.output]))
      code.state = state as never
      return { ended: 'completed', output, state, ...onwardOf(await leads.after(code, output)) }
    } catch (thrown) {
      const error = stepError(step.name, thrown)
      return error.code === 'WORKFLOW_INVALID_GOTO' ? failed(error) : afterFailure(error, code, leads)
    }
  })

type Resting = Extract<AnyStep, { sleep: unknown } | { sleepUntil: unknown } | { waitFor: unknown }>

/** ms since the epoch. */
const until = (step: Extract<AnyStep, { sleepUntil: unknown }>, scope: Scope, leads: Leads): AnyActorLogic =>
  reckoning(scope, step.name, async (code) => {
    try {
      const said: unknown = await step.sleepUntil(code)
      const moment = said instanceof Date ? said.getTime() : said
      if (typeof moment === 'number' && !Number.isNaN(new Date(moment).getTime())) return moment
      throw new LadderError('STEP_FAILED', `sleepUntil of the step '${step.name}' gave no moment: ${shown(said)}`, {
        hint: 'return a Date, or ms since the epoch',
        context: { step: step.name },
      })
    } catch (thrown) {
      return afterFailure(stepError(step.name, thrown), code, leads)
    }
  })

/** It has waited long enough, or got what it waited for. */
const rest = (step: Resting, scope: Scope, leads: Leads): AnyActorLogic =>
  codeOf(scope, step.name, async ({ run, code }) => {
    const given = run.given[step.name]
    try {
      if ('waitFor' in step && given === undefined)
        throw new LadderError('STEP_TIMEOUT', `the step '${step.name}' has waited ${step.timeoutMs} ms for '${step.waitFor}', and it has not come`, {
          context: { step: step.name, event: step.waitFor },
          hint: 'onFailure leads elsewhere, and resume() waits anew',
        })
      const output = 'waitFor' in step ? await checked({ name: step.name, output: definedSchema(step.schema) }, given) : undefined
      return { ended: 'completed', output, state: run.state, ...onwardOf(await leads.after(code, output)) }
    } catch (thrown) {
      const error = stepError(step.name, thrown)
      return error.code === 'WORKFLOW_INVALID_GOTO' ? failed(error) : afterFailure(error, code, leads)
    }
  })

const afterFailure = async (error: LadderError, code: Code, leads: Leads | undefined): Promise<StepEnd> => {
  try {
    return failed(error, onwardOf(await leads?.onFailure(code, error)))
  } catch (lost) {
    return failed(lost as LadderError)
  }
}

const failed = (error: LadderError, more: object = {}): StepEnd => ({ ended: 'failed', error: error.toJSON(), ...more })
const onwardOf = (onward: Onward) => (onward ? { onward } : {})

/** What each branch has changed, the later one winning where two changed the same. */
const merged = (before: unknown, branches: readonly unknown[]): unknown => {
  const all = { ...(before as Record<string, unknown>) }
  for (const branch of branches as Record<string, unknown>[])
    for (const key of new Set([...Object.keys(branch), ...Object.keys(before as object)]))
      if (!isDeepStrictEqual(branch[key], (before as Record<string, unknown>)[key])) {
        if (Object.hasOwn(branch, key)) all[key] = branch[key]
        else delete all[key]
      }
  return all
}

/** ms before the attempt after this one. */
export const pauseAfter = (attempt: number, { backoff = 'exponential' }: Retry = {}): number => {
  const wanted =
    typeof backoff === 'function' ? backoff(attempt) : backoff === 'none' ? 0 : backoff === 'linear' ? 500 * attempt : 500 * 2 ** (attempt - 1)
  return Math.min(pauseMaxMs, Math.max(0, Number.isFinite(wanted) ? wanted : 0))
}

const definedSchema = (schema: Schema | undefined) => (schema ? { schema } : {})

const checked = async ({ name, output: { extract, schema } = {} }: Pick<AnyWork, 'name' | 'output'>, result: unknown): Promise<unknown> => {
  const output = extract ? extract(result) : result
  return schema ? fitted(schema, output, `the output of the step '${name}'`, { step: name }) : output
}

const stepError = (step: string, thrown: unknown): LadderError =>
  thrown instanceof LadderError
    ? thrown
    : new LadderError('STEP_FAILED', `the step '${step}' failed: ${wordsOf(thrown)}`, { cause: thrown, context: { step } })
