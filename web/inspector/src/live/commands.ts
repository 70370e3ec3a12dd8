/** What commands answer, as far as the page reads it. */
import type { ErrorBody } from '../../../../src/contracts/errors.ts'
import type { StoredFrame } from '../fold/protocol.ts'

export type SessionListed = {
  key: string
  state: unknown
  seq: number
  at: number
  busy: boolean
  waiting: number
  title?: string
  last?: string
  /** Of a fork. */
  origin?: { key: string; at: number }
}
export type ActorListed = {
  kind: string
  id: string
  status: string | null
  states: Record<string, unknown>
  seq: number
  at: number
  waiting: number
  /** Of a fork. */
  origin?: { kind: string; id: string; at: number }
  quarantine?: ErrorBody
  error?: ErrorBody
}
export type ActorsPage = { actors: ActorListed[]; next: string | null }
export type FramesPage = { frames: StoredFrame[]; next: number | null; head: { seq: number } }
export type Replayed = {
  verdict: 'identical' | 'different'
  commits: number
  inputs: number
  difference?: { seq: number; path?: string; recorded: unknown; replayed: unknown }
}
