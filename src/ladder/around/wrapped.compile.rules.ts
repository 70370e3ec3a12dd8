/** What the names in the states around a run mean. */
import { assign, type EventObject } from 'xstate'
import { errorBody, type LadderCode, type LadderErrorBody, wordsOf } from '../errors.ts'
import type { RunState } from '../run.rules.ts'
import type { RunAround, WrappedAround } from './wrapped.context.ts'

type Run = RunState & { around?: WrappedAround }
type Scope = { context: Run; event: EventObject }

const saidAround = (event: EventObject): RunAround => (event as unknown as { output: RunAround }).output
/** A run may have no data at all. */
const hasEnded = ({ outcome }: RunAround): boolean => outcome !== undefined && !('error' in outcome)

/** Its outcome, in the place of what the run had come to. */
export const outcomeOf = (event: EventObject): { data?: unknown; error: LadderErrorBody | undefined } => {
  const { outcome } = saidAround(event)
  return outcome && 'error' in outcome ? { error: outcome.error } : { data: outcome?.result, error: undefined }
}

/** Of code around a run. */
export const unstorable = (name: string, code: LadderCode, event: EventObject, context: Record<string, unknown> = {}): LadderErrorBody => {
  const { error: cause } = event as unknown as { error: unknown }
  return errorBody(code, `code around '${name}' gave what cannot be stored: ${wordsOf(cause)}`, {
    hint: 'give plain data, and keep plain data in the state: JSON, dates and bytes',
    context,
    cause,
  })
}

/** Their types are those of the machine that takes them. @param code of its failures */
export const wrapActions = (name: string, code: LadderCode, now: () => number): Record<string, never> =>
  ({
    takeAround: assign(({ context, event }: Scope) => {
      const { states, given, outcome } = saidAround(event)
      const { around, input } = context
      return {
        around: { ...around, states, ...(given && !around?.own && { own: { input } }), ...(!outcome && { isIn: true as const }) },
        ...(given && !outcome && { input: given.input }),
      }
    }),
    takeOutcome: assign(({ event }: Scope) => ({ ...outcomeOf(event), endedAt: now() })),
    failAround: assign(({ event }: Scope) => ({ error: unstorable(name, code, event), endedAt: now() })),
    noteDone: assign(({ context: { around, error } }: Scope) => ({ around: { states: {}, ...around, isDone: error === undefined } })),
  }) as unknown as Record<string, never>

export const wrapGuards: Record<string, never> = {
  'came to an end': ({ event }: Scope) => hasEnded(saidAround(event)),
  'is turned away': ({ event }: Scope) => 'error' in (saidAround(event).outcome ?? {}),
  'was not let in': ({ context }: Scope) => context.around?.isIn !== true,
  'was done': ({ context }: Scope) => context.around?.isDone === true,
} as unknown as Record<string, never>
