/** An answer as server-sent events, as fast as its reader takes them. */
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { Clock } from '../../contracts/environment.ts'

/** Proxies and clients cut a connection on which nothing is said. */
const heartbeatMs = 15_000

export type Frame = { event?: string; data: string }

/** @param source ends when nobody reads any more @param over is called once, when it has ended */
export const frames = (context: Context, clock: Clock, source: AsyncGenerator<Frame>, over: () => void): Response =>
  streamSSE(context, async (stream) => {
    let heartbeat: unknown
    const beat = (): void => {
      heartbeat = clock.setTimeout(() => {
        // A write to a connection that has just gone fails, and the source ends.
        stream.write(': still here\n\n').then(beat, () => undefined)
      }, heartbeatMs)
    }
    beat()
    try {
      for await (const frame of source) {
        if (stream.aborted) break
        await stream.writeSSE(frame)
      }
    } finally {
      clock.clearTimeout(heartbeat)
      over()
    }
  })
