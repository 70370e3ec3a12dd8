/** What is written down by whom while nodes are harmed. */
import type { ClientLine } from '../checker/evidence.ts'
import type { EffectLine } from '../crash/lines.ts'

/** What tools did to the world; `what` is what they were told. */
export type Trace = EffectLine & { session: string; what: string }
/** What a client knew, and when. */
export type Note = ClientLine & { session: string; at: number }
/** What was done to a process, ms since the epoch. */
export type Harm = { what: string; pid: number; from: number; to: number }

/** Which process a writer is, see app.ts. */
export const pidOf = (writer: string): number => Number(/-p(\d+)$/.exec(writer)?.[1] ?? 0)
