/** Code in layers around something: down through `before`, and up again through `after`, or `onError` where something failed. */
import { type LadderCode, LadderError, type LadderErrorBody, wordsOf } from '../errors.ts'

type Late<Value> = Value | Promise<Value>
/** `result` stands in the place of what is inside; nothing: it goes on. */
// biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing is usual here
type Said<Value, More = unknown> = Late<({ result: Value } & More) | ({ result?: never } & More) | undefined | void>

export type Layer<Context, Value, More = unknown> = {
  /** Answers by itself with a `result`; then nothing inside of it runs. */
  before?: (context: Context) => Said<Value, More>
  /** May put another `result` in the place of this one. */
  after?: (context: Context, result: Value) => Said<Value>
  /** Recovers with a `result`; without one the failure goes on to the layers around. */
  onError?: (context: Context, error: LadderError) => Said<Value>
}

export type Outcome<Value> = { result: Value } | { error: LadderErrorBody }

/** One layer with what it is given. */
export type Entered<Context, Value, More> = { name: string; layer: Layer<Context, Value, More>; context: Context }

/** The outermost is the first. @param take hears what else a `before` has said @returns an outcome where something inside is not to run any more */
export const down = async <Context, Value, More>(
  layers: readonly Entered<Context, Value, More>[],
  take: (more: More) => void = () => undefined,
  code: LadderCode = 'AGENT_EXEC_FAILED',
): Promise<Outcome<Value> | undefined> => {
  for (const [index, { name, layer, context }] of layers.entries()) {
    const outer = layers.slice(0, index)
    try {
      const said = await layer.before?.(context)
      if (said?.result !== undefined) return await up(outer, { result: said.result }, code)
      if (said) take(said)
    } catch (thrown) {
      return up(outer, { error: failureOf(name, 'before', thrown, code) }, code)
    }
  }
  return undefined
}

/** @param code of a failure that names none */
export const up = async <Context, Value, More>(
  layers: readonly Entered<Context, Value, More>[],
  inside: Outcome<Value>,
  code: LadderCode = 'AGENT_EXEC_FAILED',
): Promise<Outcome<Value>> => {
  let outcome = inside
  for (const { name, layer, context } of layers.toReversed()) {
    const hook = 'error' in outcome ? 'onError' : 'after'
    try {
      const said = 'error' in outcome ? await layer.onError?.(context, LadderError.from(outcome.error)) : await layer.after?.(context, outcome.result)
      if (said?.result !== undefined) outcome = { result: said.result }
    } catch (thrown) {
      outcome = { error: failureOf(name, hook, thrown, code) }
    }
  }
  return outcome
}

const failureOf = (middleware: string, hook: string, thrown: unknown, code: LadderCode): LadderErrorBody =>
  (thrown instanceof LadderError
    ? thrown
    : new LadderError(code, `${hook} of the middleware '${middleware}' threw: ${wordsOf(thrown)}`, {
        cause: thrown,
        context: { middleware, hook },
      })
  ).toJSON()
