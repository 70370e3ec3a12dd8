/** What the machine of a provider knows, and what it is told. */
import { z } from 'zod'
import { failoverReasons } from '../../contracts/model.ts'
import type { ProviderState } from '../../models/cooldown.rules.ts'

const Call = { profile: z.string().min(1).max(200).describe('id of the credential'), at: z.number().int().min(0).describe('ms since the epoch') }

/** What came of a call with one of the credentials. */
export const ProviderEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('failed'), reason: z.enum(failoverReasons), ...Call }),
  z.strictObject({ type: z.literal('succeeded'), ...Call }),
])
export type ProviderEvent = z.infer<typeof ProviderEvent>

export type ProviderContext = {
  provider: string
  profiles: ProviderState
  /** The newest time that the machine was told of, or waited for. */
  at: number
}
