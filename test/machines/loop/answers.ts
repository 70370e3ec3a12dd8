import { noUsage } from '../../../src/contracts/message.ts'
import type { LoopOutput } from '../../../src/contracts/turn.ts'

/** What an agent loop came to. */
export const anAnswer = (answer: Partial<LoopOutput> = {}): LoopOutput => ({
  status: 'completed',
  ids: ['r'],
  text: 'hello',
  texts: ['hello'],
  reasoning: '',
  toolError: null,
  annotations: [],
  flat: false,
  partial: false,
  finish: null,
  answerId: 'r:1',
  usage: { ...noUsage, inputTokens: 1200, outputTokens: 34 },
  shares: {},
  costUsd: 0.0123,
  durationMs: 250,
  endedAt: 1_770_000_000_250,
  credential: null,
  steps: 1,
  toolCalls: 0,
  model: 'test/model',
  attempts: [],
  compactions: 0,
  tokens: 1234,
  window: 200_000,
  error: null,
  transcriptLength: 6,
  ...answer,
})
