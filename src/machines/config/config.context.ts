/** What a shared document knows, and what it is told. */
import { z } from 'zod'

export const ConfigEvent = z.strictObject({
  type: z.literal('write'),
  value: z.record(z.string(), z.unknown()).describe('the whole document'),
  hash: z.string().length(64).describe('of that document'),
  baseHash: z.string().length(64).describe('of the document that it stands on'),
  at: z.number().int().min(0).describe('ms since the epoch'),
  by: z.string().max(200).optional().describe('who wrote it'),
})
export type ConfigEvent = z.infer<typeof ConfigEvent>

export type ConfigInput = { value: Record<string, unknown>; hash: string }

/** @property at ms since the epoch of the last change; 0 before the first */
export type ConfigContext = ConfigInput & { at: number }

export type ConfigOutput = { type: 'written'; hash: string } | { type: 'refused'; code: 'conflict'; message: string; hint: string }
