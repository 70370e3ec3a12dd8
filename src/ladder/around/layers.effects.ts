/** The code of an author around a run of any rung, as actors: what it comes to is data of the journal, whatever it throws. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import type { AnyMiddleware } from '../agent/middleware.ts'
import { down, type Entered, type Outcome, up } from '../agent/onion.ts'
import { type LadderCode, LadderError } from '../errors.ts'
import { callerOf, type RunState, rootOf } from '../run.rules.ts'
import type { RunAround } from './wrapped.context.ts'

type Context = Readonly<Record<string, unknown>>
type Run = RunState & { around?: { states: RunAround['states'] } }

/**
 * @property about what it is given besides what is the same on each rung @property code of a failure that names none
 * @property fit what another input has to be, where that is looked at here
 */
export type LayerCode = {
  name: string
  code: LadderCode
  middleware: readonly AnyMiddleware[]
  contextOf: (runId: string) => Context
  about: (run: never) => object
  fit?: (input: unknown) => Promise<unknown>
}

/** The layers of one level that are there, each with a state of its own to write to. @returns states as they have left them by now */
export const layersOf = <Given, Value, More = unknown>(
  level: 'execute' | 'trip',
  { middleware, contextOf, about }: Pick<LayerCode, 'middleware' | 'contextOf' | 'about'>,
  run: Run,
  signal: AbortSignal,
) => {
  const kept = run.around?.states ?? {}
  const states: Record<string, object> = Object.fromEntries(
    middleware.map((one) => [one.name, structuredClone(kept[one.name] ?? one.state ?? {}) as object]),
  )
  const given = { runId: run.runId, rootRunId: rootOf(run), input: run.input, context: contextOf(callerOf(run)), signal, ...about(run as never) }
  const layers = middleware.flatMap((one): Entered<Given, Value, More>[] => {
    const layer = one[level]
    return layer ? [{ name: one.name, layer: layer as never, context: { ...given, state: states[one.name] } as Given }] : []
  })
  return { states, layers }
}

/** Before anything else; one that answers by itself is the outcome of the run. */
export const enterLogic = (code: LayerCode): AnyActorLogic =>
  fromTask<RunAround, Run>(async ({ input: run, signal }) => {
    const { states, layers } = layersOf<unknown, unknown, { input?: unknown }>('execute', code, run, signal)
    let given: RunAround['given']
    let outcome: Outcome<unknown> | undefined = await down(
      layers,
      (more) => {
        if (Object.hasOwn(more, 'input')) given = { input: more.input }
      },
      code.code,
    )
    if (given && !outcome && code.fit)
      try {
        given = { input: await code.fit(given.input) }
      } catch (thrown) {
        outcome = await up(layers, { error: unfit(code, thrown).toJSON() }, code.code)
      }
    return { states, ...(outcome && { outcome }), ...(given && { given }) }
  }) as AnyActorLogic

/** After all else, whatever it came to. */
export const leaveLogic = (code: LayerCode): AnyActorLogic =>
  fromTask<RunAround, Run>(async ({ input: run, signal }) => {
    const { states, layers } = layersOf('execute', code, run, signal)
    return { states, outcome: await up(layers, run.error ? { error: run.error } : { result: run.data }, code.code) }
  }) as AnyActorLogic

const unfit = ({ name, code }: LayerCode, thrown: unknown): LadderError =>
  thrown instanceof LadderError ? thrown : new LadderError(code, `what '${name}' is given is no input of it`, { cause: thrown })
