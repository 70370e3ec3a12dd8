/** Code of a batch as actors: whether an item may be run, and whether it is tried again. */
import type { AnyActorLogic } from 'xstate'
import { fromTask } from '../../index.ts'
import { LadderError, type LadderErrorBody } from '../errors.ts'
import type { AnyExecutable } from '../executable.ts'
import type { Retry } from '../workflow/definition.ts'
import { pauseAfter } from '../workflow/step.effects.ts'

/** @property error what is wrong with an item; null: nothing is */
export type Fit = { error: LadderErrorBody | null }

export const checkLogic = (executable: AnyExecutable): AnyActorLogic =>
  fromTask<Fit, unknown>(async ({ input }) => ({ error: (await executable.refuses(input))?.toJSON() ?? null })) as AnyActorLogic

/** @property pauseMs until its next attempt; null: there is none */
export type Again = { pauseMs: number | null }

export const retryLogic = (retry: Retry): AnyActorLogic =>
  fromTask<Again, { attempt: number; error: LadderErrorBody }>(async ({ input: { attempt, error } }) => {
    const mayTry = attempt < (retry.attempts ?? 1) && error.category !== 'cancelled' && (retry.retryOn?.(LadderError.from(error)) ?? true)
    return { pauseMs: mayTry ? pauseAfter(attempt, retry) : null }
  }) as AnyActorLogic
