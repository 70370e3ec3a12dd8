/** What an actor says, for readers outside of this process: plain JSON, numbered where it is durable. */
import { saidAfter } from '../actors/replay.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { ActorPath, AnyEvent } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Runtime } from '../runtime.ts'
import { EventQueue } from './event-queue.ts'
import type { Said } from './outputs.ts'

/** `seq` and `part` number durable events; live ones, such as deltas, have neither and may be lost. */
export type OutEvent = AnyEvent & { path: ActorPath; seq?: number; part?: number }

/** The place of a durable event; the reader has seen everything up to it. */
export type Place = { seq: number; part: number }

/** Events kept for a reader who is slower than the actor. */
const backlogMax = 20_000

export type Listening = {
  /** Throws `overloaded` at a gap, where the reader was too slow. */
  events: AsyncIterable<OutEvent>
  /** No more is taken in; what waits can still be read. Safe twice. */
  end(): void
  /** Ends at once: what waits is dropped. Safe twice. */
  stop(): void
}

const outEvent = ({ event, path, seq, index }: Said): OutEvent => ({ ...event, path, ...(seq === undefined ? {} : { seq, part: index ?? 0 }) })

export const isAfter = (event: OutEvent, { seq, part }: Place): boolean =>
  event.seq === undefined || event.seq > seq || (event.seq === seq && (event.part ?? 0) > part)

/** `12.3` as an event stream names it. @throws RuntimeError bad_request */
export const parsePlace = (text: string): Place => {
  const [, seq, part] = /^(\d{1,15})\.(\d{1,9})$/.exec(text) ?? []
  if (seq === undefined)
    throw new RuntimeError('bad_request', `'${text.slice(0, 40)}' is no place in a journal`, {
      field: 'Last-Event-ID',
      hint: 'send the id of the last event that you have seen, such as 12.3',
    })
  return { seq: Number(seq), part: Number(part) }
}

/**
 * Listens from the moment of the call, not from the first read. With `after`, the durable events since that place come first, folded from the
 * journal, and then those of now: each once, in order, none left out, also where a host that took over says its last words again.
 */
export const listen = (runtime: Runtime, address: Address, after?: Place): Listening => {
  const { outputs, transport, host } = runtime.services
  // As all listeners share it: a hundred readers who stand still keep each event once.
  const queue = new EventQueue<Said>(backlogMax)
  let stopped = false
  const unsubscribe = outputs.listen(
    formatAddress(address),
    (said) => {
      if (said.event.type !== 'transcript') queue.push(said)
    },
    () => queue.end(),
  )
  const read = async function* (): AsyncGenerator<OutEvent> {
    let place = after ?? { seq: 0, part: -1 }
    const fresh = (event: OutEvent): boolean => {
      if (!isAfter(event, place)) return false
      if (event.seq !== undefined) place = { seq: event.seq, part: event.part ?? 0 }
      return true
    }
    if (after)
      for (const { event, path, seq, part } of await saidAfter(transport.journal, address, host.registration(address.kind), after.seq - 1)) {
        if (stopped) return
        const past = { ...event, path, seq, part }
        if (event.type !== 'transcript' && fresh(past)) yield past
      }
    for await (const said of queue) {
      const event = outEvent(said)
      if (fresh(event)) yield event
    }
  }
  let ended = false
  const end = () => {
    if (ended) return
    ended = true
    unsubscribe()
    queue.end()
  }
  return {
    events: read(),
    end,
    stop: () => {
      stopped = true
      end()
      queue.cancel()
    },
  }
}
