/** What the page shows, and what can be done on it. */

import type { Chart } from '../../../src/actors/index.ts'
import type { ErrorBody } from '../../../src/contracts/errors.ts'
import type { ForkChange } from '../../../src/contracts/fork.ts'
import type { MachineCoverage } from '../../../src/contracts/inspection.ts'
import type { ActorPath } from '../../../src/contracts/journal.ts'
import type { Span } from '../../../src/contracts/tracing.ts'
import type { Approval } from '../../../src/contracts/turn.ts'
import type { CommitDetail, Looked, Origin, Row } from './fold/protocol.ts'
import type { Replayed } from './live/commands.ts'
import type { Lanes } from './rules/lanes.rules.ts'
import type { Mood } from './rules/moods.rules.ts'
import type { Spans } from './rules/spans.rules.ts'
import type { Subject, ViewingContext } from './viewing/viewing.context.ts'

export type Connection =
  | { state: 'connecting' }
  | { state: 'connected'; leaving?: true }
  | { state: 'lost'; retryAt?: number }
  | { state: 'refused'; error: ErrorBody }

/** A row of the list. */
export type Listed = {
  kind: string
  id: string
  seq: number
  at: number
  mood: Mood
  /** Its state, or what it waits for. */
  state: string
  words: string
  origin?: { key: string; at: number }
}

/** The recorded journal: grows at its end, and `version` with it. */
export type Recorded = { rows: readonly Row[]; lanes: Lanes; spans: Spans; version: number }

export type Verdict = { state: 'asking' } | { state: 'said'; replayed: Replayed } | { state: 'failed'; error: ErrorBody }

export type InspectorView = {
  connection: Connection
  /** Undefined until it has been read. */
  list: readonly Listed[] | undefined
  /** Actors of other kinds, once somebody wants them. */
  others: readonly Listed[] | undefined
  subject: Subject | undefined
  origin: Origin | undefined
  recorded: Recorded
  place: Pick<ViewingContext, 'seq' | 'head' | 'fresh' | 'compares' | 'corrupt' | 'error'> & {
    live: boolean
    catchingUp: boolean
    unreadable: boolean
  }
  looked: Looked | undefined
  /** Commits applied so far, while a moment is folded. */
  folding: { applied: number } | undefined
  charts: Readonly<Record<string, Chart>>
  actor: ActorPath
  verdict: Verdict | undefined
  coverage: Covered | undefined
  /** What this node has observed of the runs of the session. */
  spans: readonly Span[]
  mayApprove: boolean
}

/** What all that is recorded of this kind of actor has gone through. @property sessions folded so far */
export type Covered =
  | { state: 'asking'; sessions: number }
  | { state: 'known'; machines: readonly MachineCoverage[] }
  | { state: 'failed'; error: ErrorBody }

export type ForkWish = {
  at: number
  as: string
  answers: 'recorded' | 'live'
  change?: ForkChange | undefined
}

export interface InspectorModel {
  view(): InspectorView
  subscribe(changed: () => void): () => void
  reconnect(): void
  open(subject: Subject, seq?: number): void
  wantOthers(): void
  seek(seq: number): void
  live(): void
  choose(actor: ActorPath): void
  compare(to: 'before' | number | undefined): void
  detail(seq: number): Promise<CommitDetail>
  /** All of a text that was cut. */
  text(seq: number, at: readonly (string | number)[]): Promise<string>
  decide(approval: Approval, decision: 'approve' | 'deny'): Promise<void>
  /** @returns key of the fork @throws RuntimeError */
  fork(wish: ForkWish): Promise<string>
  replay(): void
  /** Reads the coverage of this kind of actor anew. */
  cover(): void
  /** The journal as a file to be given away, redacted by the node. */
  exported(): Promise<string>
  /** Address of what is shown now. */
  link(): string
}
