/** Reads a source for as long as somebody wants what it says. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { Watched } from '../http/access-watch.ts'

/**
 * @param gone aborts when nobody reads any more @param closing aborts when the node ends: what was accepted goes on without it
 * @param watched the token of who reads: what comes when it is over is not said
 * @throws RuntimeError cancelled, closed, unauthorised
 */
export async function* whileWanted<Said, Outcome>(
  source: AsyncGenerator<Said, Outcome>,
  { gone, closing, watched }: { gone: AbortSignal; closing: AbortSignal; watched: Pick<Watched, 'over' | 'check'> },
): AsyncGenerator<Said, Outcome> {
  const unwanted = Promise.withResolvers<never>()
  unwanted.promise.catch(() => undefined)
  const leave = () => unwanted.reject(new RuntimeError('cancelled', 'the client broke off'))
  const close = () =>
    unwanted.reject(
      new RuntimeError('closed', 'this node is shutting down', {
        retryable: true,
        hint: "the answer goes on: a request with an 'Idempotency-Key' can be repeated when the node is back, and gets it",
      }),
    )
  const end = () => unwanted.reject(watched.over.reason)
  gone.addEventListener('abort', leave)
  closing.addEventListener('abort', close)
  watched.over.addEventListener('abort', end)
  if (gone.aborted) leave()
  if (closing.aborted) close()
  if (watched.over.aborted) end()
  try {
    for (;;) {
      const next = source.next()
      // What comes when nobody waits for it any more concerns nobody.
      next.catch(() => undefined)
      const result = await Promise.race([next, unwanted.promise])
      watched.check()
      if (result.done) return result.value
      yield result.value
    }
  } finally {
    gone.removeEventListener('abort', leave)
    closing.removeEventListener('abort', close)
    watched.over.removeEventListener('abort', end)
  }
}
