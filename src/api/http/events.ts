/**
 * The output of a session as server-sent events. Every event has its type as `event`, and as `id` its place in the journal, `seq.part.birth`,
 * where it is durable. A stream begins with what happens from now on; with `Last-Event-ID`, with what came after that event. Live events, such
 * as deltas, have no id and are not repeated. A place that the journal does not have is no error: an `EventSource` would neither see its reason nor
 * connect again. It gets `restart`, and everything from the beginning.
 */
import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { type Access, reaches } from '../../contracts/access.ts'
import type { Clock } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import { formatAddress } from '../../contracts/subjects.ts'
import type { Runtime } from '../../runtime/index.ts'
import { heartbeat } from '../heartbeat.ts'
import { formatPlace } from '../place.ts'
import { requireScope } from '../scopes.ts'
import { isOver, type Watched } from './access-watch.ts'

type Asked = { context: Context; key: string; closing: AbortSignal; access?: (() => Access) | undefined; watched: Watched }

/** Its token is left when the stream is over or could not begin. */
export const eventStream = (runtime: () => Runtime, { clock, ...asked }: Asked & { clock: Clock }): Response => {
  try {
    return begin(runtime(), asked, clock)
  } catch (error) {
    asked.watched.leave()
    throw error
  }
}

const begin = (runtime: Runtime, { context, key, closing, access, watched }: Asked, clock: Clock): Response => {
  const allowed = access?.()
  if (allowed) requireScope(allowed.scopes, 'read', 'events')
  const own = runtime.keyOf(key)
  formatAddress({ kind: 'session', id: own })
  // One that is not there says nothing, and neither does one that the token does not reach.
  const address = { kind: 'session', id: reaches(allowed, own) ? own : `nobody:${randomUUID()}` }
  // Before the response begins: a reader that has its headers misses nothing.
  const last = context.req.header('last-event-id')
  const listening = runtime.events(address, last)
  return streamSSE(context, async (stream) => {
    // Nobody reads any more, so what waits is not even put into words. While we close, a reader who keeps up still gets it.
    const stop = () => listening.stop()
    const end = () => listening.end()
    stream.onAbort(stop)
    closing.addEventListener('abort', end)
    // Also while nothing happens: a token that is over is told nothing any more, not even that we are still here.
    watched.over.addEventListener('abort', stop)
    if (watched.over.aborted) stop()
    let stopHeart: (() => void) | undefined
    try {
      await stream.write(': listening\n\n')
      stopHeart = heartbeat(stream, clock)
      for await (const event of listening.events) {
        if (stream.aborted || isOver(watched)) break
        // Waits until the one before is on its way: a reader who stands still costs no more than the queue.
        const id = event.seq === undefined ? {} : { id: formatPlace({ seq: event.seq, part: event.part ?? 0, birth: event.birth }) }
        await stream.writeSSE({ ...id, event: event.type.replace(/[\r\n]/g, ' '), data: JSON.stringify(event) })
      }
    } catch (error) {
      // The client connects again with the id of its last event, and gets what is durable of the rest.
      if (!isRuntimeError(error) || error.code !== 'overloaded') throw error
      await stream.writeSSE({ event: 'gap', data: '{"type":"gap","why":"too slow"}' })
    } finally {
      stopHeart?.()
      closing.removeEventListener('abort', end)
      watched.over.removeEventListener('abort', stop)
      stop()
      watched.leave()
    }
  })
}
