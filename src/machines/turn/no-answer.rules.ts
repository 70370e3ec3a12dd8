/** The outcome of messages for which no model was asked. */
import { noUsage } from '../../contracts/message.ts'
import type { TurnOutput } from '../../contracts/turn.ts'

/** All of it but how it ended. */
export const unasked = (runId: string, ids: string[], model: string, transcriptLength: number): Omit<TurnOutput, 'status' | 'outcome'> => ({
  runId,
  ids,
  text: '',
  partial: false,
  answerId: null,
  usage: noUsage,
  steps: 0,
  toolCalls: 0,
  model,
  transcriptLength,
})
