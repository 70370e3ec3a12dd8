/** What an actor says, for readers outside of this process: plain JSON, numbered where it is durable. */
import { saidAfter } from '../actors/index.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Feed, OutEvent, OutputEvent, Parts } from '../runtime/index.ts'
import { EventQueue } from '../runtime/index.ts'
import { beginning, birthOf, inOrder, type Place, resumeAt } from './place.ts'

/** Events kept for a reader who is slower than the actor. */
const backlogMax = 20_000

const outEvent = ({ event, path, seq, index }: OutputEvent): OutEvent => ({ ...event, path, ...(seq === undefined ? {} : { seq, part: index ?? 0 }) })

/**
 * Listens from the moment of the call, not from the first read. With `after`, the durable events since that place come first, folded from the
 * journal, and then those of now: each once, in order, none left out, also where a host that took over says its last words again. A place that this
 * journal does not have is of another life of the actor: then `restart` comes first, and everything from the beginning.
 */
export const listen = ({ outputs, transport, host }: Pick<Parts, 'outputs' | 'transport' | 'host'>, address: Address, after?: Place): Feed => {
  // As all listeners share it: a hundred readers who stand still keep each event once.
  const queue = new EventQueue<OutputEvent>(backlogMax)
  let stopped = false
  const unsubscribe = outputs.listen(
    formatAddress(address),
    (output) => {
      if (output.event.type !== 'transcript') queue.push(output)
    },
    () => queue.end(),
  )
  const lives = { birth: () => birthOf(transport.journal, address), stamped: true }
  const past = async function* (from: Place): AsyncGenerator<OutEvent> {
    for (const { event, path, seq, part } of await saidAfter(transport.journal, address, host.registration(address.kind), from.seq - 1)) {
      if (stopped) return
      if (event.type !== 'transcript') yield { ...event, path, seq, part }
    }
  }
  const now = async function* (): AsyncGenerator<OutEvent> {
    for await (const output of queue) yield outEvent(output)
  }
  const read = async function* (): AsyncGenerator<OutEvent> {
    if (!after) return yield* inOrder(now(), beginning, lives)
    const { place, restart } = await resumeAt(transport.journal, address, after)
    if (restart) yield restart
    const both = async function* () {
      yield* past(place)
      yield* now()
    }
    yield* inOrder(both(), place, lives)
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
