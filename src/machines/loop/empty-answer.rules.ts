/** An answer without a word and without a call is a fault: a model that thinks may spend all of it on that. */
import type { ModelCallOutput } from '../../contracts/model-call.ts'
import { failure } from './failure.rules.ts'
import { type LoopContext, spent } from './loop.context.ts'

/** Nothing was said or done in the whole run. Who means to be silent says so; where nobody has asked, silence is an answer. */
export const isNothing = (
  { said, totals, input: { profile, minimal } }: LoopContext,
  { text, calls, partial, finish, outgoing }: Pick<ModelCallOutput, 'text' | 'calls' | 'partial' | 'finish' | 'outgoing'>,
): boolean =>
  // What an extension has taken away was said.
  outgoing === undefined &&
  text.trim() === '' &&
  calls.length === 0 &&
  !partial &&
  finish !== 'content-filter' &&
  said.texts.length === 0 &&
  totals.toolCalls === 0 &&
  !profile.heartbeat &&
  !minimal

/** It is asked once more, and not to think. What it used counts. */
export const withoutThinking = (context: LoopContext, { model, usage, costUsd }: ModelCallOutput): Partial<LoopContext> => ({
  empty: true,
  call: context.call + 1,
  asked: { ...context.asked, thinking: 'off' },
  totals: spent(context, model, usage, costUsd),
})

export const saidNothing = (context: LoopContext, { model, usage, costUsd }: ModelCallOutput): Partial<LoopContext> => ({
  totals: spent(context, model, usage, costUsd),
  ...failure(context, {
    code: 'provider_malformed',
    message: 'the model answered with nothing, twice',
    retryable: false,
    hint: 'say it again in other words, or ask another model',
  }),
})
