/** What is told of the tokens that somebody has used (OC-91). */
import type { Usage } from '../contracts/message.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { kindsOf } from './cost.ts'

/** @property at ms since the epoch @property window tokens that the model can read; 0 where unknown @property tokens of the conversation */
export type Used = {
  runId: string
  session: string
  sessionId?: string | undefined
  channel?: string | undefined
  at: number
  model: string
  usage: Usage
  window: number
  tokens: number
  costUsd: number | null
  durationMs: number | null
  attempts: number
}

/** Nothing where nothing was used. */
export const usageEvents = ({ sessionId, channel, model, usage, window, tokens, costUsd, durationMs, ...rest }: Used): SessionOutput[] => {
  if (usage.inputTokens + usage.outputTokens === 0) return []
  const { input, cacheRead, cacheWrite, output } = kindsOf(usage)
  return [
    {
      type: 'usage',
      ...rest,
      ...(sessionId ? { sessionId } : {}),
      ...(channel === undefined ? {} : { channel }),
      provider: model.slice(0, Math.max(0, model.indexOf('/'))),
      model,
      usage: { input, output, cacheRead, cacheWrite, promptTokens: usage.inputTokens, total: usage.inputTokens + usage.outputTokens },
      ...(window > 0 ? { contextLimit: window } : {}),
      contextUsed: tokens,
      ...(costUsd === null ? {} : { costUsd }),
      ...(durationMs === null ? {} : { durationMs }),
    },
  ]
}
