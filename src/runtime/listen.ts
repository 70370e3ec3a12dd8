/** What an actor says, for readers outside of this process: plain JSON, numbered where it is durable. */
import type { ActorPath, AnyEvent } from '../contracts/journal.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Runtime } from '../runtime.ts'
import { EventQueue } from './outputs.ts'

/** `seq` and `part` number durable events; live ones, such as deltas, have neither and may be lost. */
export type OutEvent = AnyEvent & { path: ActorPath; seq?: number; part?: number }

/** Events kept for a reader who is slower than the actor. */
const backlogMax = 20_000

export type Listening = {
  events: AsyncIterable<OutEvent>
  /** How many the reader has missed by being too slow. */
  dropped(): number
  /** Safe twice. */
  stop(): void
}

/** Listens from the moment of the call, not from the first read. */
export const listen = (runtime: Runtime, address: Address): Listening => {
  const queue = new EventQueue<OutEvent>(backlogMax)
  const unsubscribe = runtime.services.outputs.listen(formatAddress(address), ({ event, path, seq, index }) => {
    if (event.type !== 'transcript') queue.push({ ...event, path, ...(seq === undefined ? {} : { seq, part: index ?? 0 }) })
  })
  let stopped = false
  return {
    events: queue,
    dropped: () => queue.dropped,
    stop: () => {
      if (stopped) return
      stopped = true
      unsubscribe()
      queue.end()
    },
  }
}
