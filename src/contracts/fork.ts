/** What a fork says of where it came from. Its journal holds it from the first moment on, so every node and every life of the fork knows it. */
import { z } from 'zod'
import type { AnyEvent } from './journal.ts'
import type { Address } from './subjects.ts'

export const ForkAnswers = z.enum(['recorded', 'live'])
/**
 * Where effects of a fork get their results: `recorded` takes them from the origin's journal behind the fork where the same effect was given the same input
 * there, `live` always has them done.
 */
export type ForkAnswers = z.infer<typeof ForkAnswers>

/** What somebody wants to be different. `event` is a JSON merge patch (RFC 7396) of the recorded event: what it does not name stays, null takes away. */
export const ForkChange = z
  .strictObject({
    seq: z.number().int().min(2).describe('the commit that has the input'),
    input: z.number().int().min(0).describe('which of its inputs, from 0: the entries of this commit in trace.read, without “taken over by …”'),
    event: z.record(z.string(), z.unknown()).describe('what is different in its event, as a JSON merge patch'),
  })
  .describe('one recorded input that is another one in the fork, which begins right before it')
export type ForkChange = z.infer<typeof ForkChange>

/**
 * One recorded input that is another one in the fork: the `input`th, from 0, of commit `seq`. The others of that commit are as they were recorded.
 * @property inputs all of them as the fork takes them, base64 of what a journal holds: by the time it begins, its origin may be gone, or another one under that key
 */
export type Change = { seq: number; input: number; event: AnyEvent; inputs: string }

/** @property at the last commit that the fork shares with its origin @property change it was made for, which comes right behind `at` */
export type Origin = { address: Address; at: number; answers: ForkAnswers; change?: Change | undefined }

/** What whoever forks decides. */
export type ForkChoice = Pick<Origin, 'answers' | 'change'>
