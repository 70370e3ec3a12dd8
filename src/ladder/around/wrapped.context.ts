/** What a run remembers of the code around it, and what that code comes to. Pure. */
import type { Outcome } from '../agent/onion.ts'

export type WrappedAround = {
  /** What its middlewares have written down, by name. */
  states: Readonly<Record<string, object>>
  /** As it was given, where `before` has put another input in its place. */
  own?: { input: unknown }
  /** `before` has let it in. */
  isIn?: true
  /** It has its data, and only code around it is left. */
  isDone?: boolean
}

/** What code around a run comes to: its outcome, or what it is given. */
export type RunAround = { states: WrappedAround['states']; outcome?: Outcome<unknown>; given?: { input: unknown } }
