/** What is told of the tokens that somebody has used (OC-91). */

import type { Usage } from '../../contracts/message.ts'
import { providerOf } from '../../contracts/model-ref.ts'
import type { SessionOutput, UsageKinds } from '../../contracts/session.ts'
import { kindsOf } from '../loop/cost.rules.ts'

/** @property at ms since the epoch @property window tokens that the model can read; 0 where unknown @property tokens of the conversation */
type Used = {
  runId: string
  session: string
  sessionId?: string | undefined
  channel?: string | undefined
  at: number
  model: string
  usage: Usage
  /** By model, where that is known. */
  shares?: Record<string, Usage>
  window: number
  tokens: number
  costUsd: number | null
  durationMs: number | null
  attempts: number
}

/** Nothing where nothing was used. */
export const usageEvents = ({
  sessionId,
  channel,
  model,
  usage,
  shares = {},
  window,
  tokens,
  costUsd,
  durationMs,
  ...rest
}: Used): SessionOutput[] => {
  if (usage.inputTokens + usage.outputTokens === 0) return []
  return [
    {
      type: 'usage',
      ...rest,
      ...(sessionId ? { sessionId } : {}),
      ...(channel === undefined ? {} : { channel }),
      provider: providerOf(model),
      model,
      usage: kinds(usage),
      ...(Object.keys(shares).length > 1 ? { byModel: Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, kinds(share)])) } : {}),
      ...(window > 0 ? { contextLimit: window } : {}),
      contextUsed: tokens,
      ...(costUsd === null ? {} : { costUsd }),
      ...(durationMs === null ? {} : { durationMs }),
    },
  ]
}

const kinds = (usage: Usage): UsageKinds => {
  const { input, output, cacheRead, cacheWrite } = kindsOf(usage)
  return { input, output, cacheRead, cacheWrite, promptTokens: usage.inputTokens, total: usage.inputTokens + usage.outputTokens }
}
