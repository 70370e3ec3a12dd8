/** What an actor says to the world, as the parts of a runtime hand it on. */
import type { ActorPath, AnyEvent } from '../contracts/journal.ts'

/**
 * One thing that an actor said. `seq` and `index` number what is durable; live output has none and may be lost. `remote` marks what came over the
 * bus: any program that may publish there could have made it up, so it is good to be shown, and nothing to decide by.
 */
export type OutputEvent = { path: ActorPath; event: AnyEvent; seq?: number; index?: number; at?: number; remote?: true }
export type OutputListener = (output: OutputEvent) => void

/** `seq` and `part` number durable events, `birth` names the life of the actor; live ones, such as deltas, have none of them and may be lost. */
export type OutEvent = AnyEvent & { path: ActorPath; seq?: number; part?: number; birth?: string }

export type Feed = {
  /** Throws `overloaded` at a gap, where the reader was too slow. */
  events: AsyncIterable<OutEvent>
  /** No more is taken in; what waits can still be read. Safe twice. */
  end(): void
  /** Ends at once: what waits is dropped. Safe twice. */
  stop(): void
}
