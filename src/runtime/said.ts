/** What an actor says to the world, as the parts of a runtime hand it on. */
import type { ActorPath, AnyEvent } from '../contracts/journal.ts'

/**
 * One thing that an actor said. `seq` and `index` number what is durable; live output has none and may be lost. `elsewhere` marks what came over the
 * bus: whoever may publish there could have made it up, so it is good to be shown, and nothing to decide by.
 */
export type Said = { path: ActorPath; event: AnyEvent; seq?: number; index?: number; at?: number; elsewhere?: true }
export type SaidListener = (said: Said) => void
