/** The socket behind a turn. */
import type { ActorLogic } from 'xstate'
import type { PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import type { LoopOutput } from '../../contracts/turn.ts'

/** Any logic that takes each `PublisherEvent` and ends with a {@link PublisherOutput}: a promise or a chart, with effects of its own. */
// biome-ignore lint/suspicious/noExplicitAny: its snapshots, and what else it takes, are nobody else's business, and `unknown` would refuse each kind of them
export type PublisherLogic = ActorLogic<any, any, PublisherInput, any, any>

/** Who stands behind the turns of a session and brings what they say to users. Its functions are pure, since charts ask them. */
export type Publisher = {
  logic: PublisherLogic
  /** Whether anybody is to be reached while a turn goes on: then the logic is its child, and the turn ends when that has. */
  follows(turn: PublisherInput): boolean
  /** What became of the answer of a turn that nobody followed. */
  conclude(turn: PublisherInput, answer: LoopOutput): PublisherOutput
}
