/** Keeps a stream of server-sent events open while nothing is said: proxies and clients cut a connection that is silent. */
import type { Clock } from '../contracts/environment.ts'

const everyMs = 15_000

/** @returns how it ends */
export const heartbeat = (stream: { write(text: string): Promise<unknown> }, clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>): (() => void) => {
  let timer: unknown
  const stop = () => clock.clearTimeout(timer)
  const beat = () => {
    timer = clock.setTimeout(() => {
      // A write to a connection that has just gone is what its reader is about to be told.
      stream.write(': still here\n\n').then(beat, stop)
    }, everyMs)
  }
  beat()
  return stop
}
