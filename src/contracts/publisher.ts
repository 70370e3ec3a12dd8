/** What a turn and its publisher say to each other: the publisher stands behind a turn and brings what it says to those who wait for it. */

import type { Usage } from './message.ts'
import type { References } from './references.ts'
import type { VerboseLevel } from './settings.ts'
import type { ToolOutcome } from './tool.ts'
import type { Approval, LoopOutput, TurnInput, TurnOutput } from './turn.ts'

export type PublisherInput = Pick<TurnInput, 'session' | 'runId' | 'profile' | 'facts'>

/** The edges of models, tools and turn, in their order. Deltas pass beside the charts: a reader that wants them listens to the session. */
export type PublisherEvent =
  /** A call of a model begins. One that follows another without an end between them replaces it. */
  | { type: 'model.started'; attempt: number; model: string }
  /** It was answered: `text` is all of it, also what got lost of its deltas. A machine that has asked is told what the call has used. */
  | { type: 'model.ended'; text: string; references?: References; spent?: { model: string; usage: Usage; costUsd?: number } }
  | { type: 'tool.started'; callId: string; name: string; input: unknown }
  /** It does not go on before a person has decided. */
  | { type: 'tool.waiting'; approval: Approval }
  /** `artifacts`: what the call gave beside its answer. */
  | { type: 'tool.ended'; callId: string; name: string; status: ToolOutcome['status']; output: unknown; artifacts?: Record<string, unknown> }
  /** A setting that the session keeps for its users has changed. */
  | { type: 'configure'; verbose?: VerboseLevel }
  /** All is said. The turn goes on when the publisher has ended. */
  | { type: 'turn.ended'; answer: LoopOutput }
  /** Nobody wants to wait any longer: it is to end soon. */
  | { type: 'turn.stopped' }

/** What became of an answer. What is left out is as without a publisher: users get the text, if there is one. */
export type PublisherOutput = Pick<TurnOutput, 'reply' | 'undelivered'> & { outcome?: 'replied' | 'silent' }
