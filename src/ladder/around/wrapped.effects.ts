/** The code of an author around a run, as actors: what it comes to is data of the journal, whatever it throws. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import type { AnyMiddleware } from '../agent/middleware.ts'
import { down, type Entered, type Outcome, up } from '../agent/onion.ts'
import type { LadderUsage } from '../envelope.ts'
import { type LadderCode, LadderError } from '../errors.ts'
import { callerOf, type RunState, rootOf } from '../run.rules.ts'
import { enterActor, leaveActor } from './wrapped.chart.rules.ts'
import type { RunAround, WrappedAround } from './wrapped.context.ts'

/** @property code of a failure that names none @property fit what another input has to be */
type AroundCode = {
  of: 'workflow' | 'supervisor'
  name: string
  code: LadderCode
  middleware: readonly AnyMiddleware[]
  contextOf: (runId: string) => Readonly<Record<string, unknown>>
  usageOf: (run: never) => LadderUsage
  fit: (input: unknown) => Promise<unknown>
}
type Run = RunState & { around?: WrappedAround }
type More = { input?: unknown }

/** The layers that are there, each with a state of its own to write to. */
const layersOf = ({ of, name, middleware, contextOf, usageOf }: AroundCode, run: Run, signal: AbortSignal) => {
  const { states: kept = {}, own } = run.around ?? {}
  const states: Record<string, object> = Object.fromEntries(
    middleware.map((one) => [one.name, structuredClone(kept[one.name] ?? one.state ?? {}) as object]),
  )
  const given = {
    runId: run.runId,
    rootRunId: rootOf(run),
    [of]: name,
    input: own ? own.input : run.input,
    context: contextOf(callerOf(run)),
    usage: usageOf(run as never),
    signal,
  }
  const layers = middleware.flatMap((one): Entered<object, unknown, More>[] =>
    one.execute ? [{ name: one.name, layer: one.execute as never, context: { ...given, state: states[one.name] } }] : [],
  )
  return { states, layers }
}

export const wrapActors = (code: AroundCode): Record<string, AnyActorLogic> => ({
  [enterActor]: fromTask<RunAround, Run>(async ({ input: run, signal }) => {
    const { states, layers } = layersOf(code, run, signal)
    let given: RunAround['given']
    let outcome: Outcome<unknown> | undefined = await down(
      layers,
      (more) => {
        if (Object.hasOwn(more, 'input')) given = { input: more.input }
      },
      code.code,
    )
    if (given && !outcome)
      try {
        given = { input: await code.fit(given.input) }
      } catch (thrown) {
        const error =
          thrown instanceof LadderError ? thrown : new LadderError(code.code, `what '${code.name}' is given is no input of it`, { cause: thrown })
        outcome = await up(layers, { error: error.toJSON() }, code.code)
      }
    return { states, ...(outcome && { outcome }), ...(given && { given }) }
  }) as AnyActorLogic,
  [leaveActor]: fromTask<RunAround, Run>(async ({ input: run, signal }) => {
    const { states, layers } = layersOf(code, run, signal)
    return { states, outcome: await up(layers, run.error ? { error: run.error } : { result: run.data }, code.code) }
  }) as AnyActorLogic,
})
