/** The socket behind a turn. */
import type { ActorLogic, ActorSystem, ActorSystemInfo, EventObject, Snapshot } from 'xstate'
import type { PublisherEvent, PublisherInput, PublisherOutput } from '../../contracts/publisher.ts'
import type { LoopOutput } from '../../contracts/turn.ts'

/** Any logic that takes what a turn does and ends with what became of its answer: a promise or a chart, with effects of its own. */
export type PublisherLogic = ActorLogic<Snapshot<PublisherOutput>, PublisherEvent, PublisherInput, ActorSystem<ActorSystemInfo>, EventObject>

/** Who stands behind the turns of a session and brings what they say to users. Its functions are pure, since charts ask them. */
export type Publisher = {
  logic: PublisherLogic
  /** Whether anybody is to be reached while a turn goes on: then the logic is its child, and the turn ends when that has. */
  follows(turn: PublisherInput): boolean
  /** What became of the answer of a turn that nobody followed. */
  conclude(turn: PublisherInput, answer: LoopOutput): PublisherOutput
}
