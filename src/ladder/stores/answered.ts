/** What is kept elsewhere may be so far away that it never answers: then it has failed, so that no run waits for it for ever. */
import { LadderError } from '../errors.ts'

const limitMs = 30_000

/** @throws LadderError STORE_FAILED where there is no answer in time: whether the work was done is not known then */
export const answered = async <Value>(what: string, work: () => Value | Promise<Value>): Promise<Value> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () =>
      reject(
        new LadderError('STORE_FAILED', `${what} has not answered for ${limitMs / 1000} seconds; whether it was done is not known`, {
          hint: 'see whether it can be reached; whoever comes next goes on from what is stored by then',
        }),
      ),
    limitMs,
  )
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}
