/** What the page and its worker say to each other. Plain data only. */
import type { Chart } from '../../../../src/actors/index.ts'
import type { ErrorBody } from '../../../../src/contracts/errors.ts'
import type { CommitSteps, Moment } from '../../../../src/contracts/inspection.ts'
import type { ActorPath, AnyEvent } from '../../../../src/contracts/journal.ts'
import type { Address } from '../../../../src/contracts/subjects.ts'

/** How an input came: from outside (`message`), as what an effect said, or as a timer. `doubt`: it may have happened, and nobody knows. */
export type MarkKind = 'message' | 'result' | 'error' | 'timer' | 'doubt'

/** One input of a commit, in short. */
export type Mark = { actor: ActorPath; kind: MarkKind; event: string; words: string }

/** One commit, as the timeline and the list of events need it; all of it is in the journal. */
export type Row = {
  seq: number
  /** ms since the epoch. */
  at: number
  epoch: number
  writer: string
  marks: readonly Mark[]
  /** State values and statuses that changed, by path. */
  states: Readonly<Record<ActorPath, unknown>>
  /** Another node took it over, and the one before had not let go. */
  killed?: true
  released?: true
  crash?: ErrorBody
  quarantine?: ErrorBody
  refused?: readonly ErrorBody[]
  /** What people call actors that began here: the tool of a tool call. */
  names?: Readonly<Record<ActorPath, string>>
  /** Runs that ended here. */
  ended?: readonly string[]
  /** Runs whose message came here. */
  begun?: readonly string[]
}

/** Who wrote the journal, by its first commit. `local`: this page has that very machine. */
export type Origin = { machine: string; signature: string; local: boolean }

/** A text that was too long to be shown at once. `at` is where it stands in the commit. */
export type CutText = { cut: string; length: number; at: readonly (string | number)[] }

/** What a commit says, with its long texts cut. */
export type CommitDetail = { seq: number; inputs: readonly AnyEvent[]; notes: readonly AnyEvent[] }

/** What is known of one moment. `before` is what it is compared with. */
export type Looked = { seq: number; moment: Moment; steps: CommitSteps; detail: CommitDetail; before?: Moment | undefined }

/** @property of who wrote it, where that was an origin of this fork */
export type StoredFrame = { seq: number; bytes: string; of?: Address }

/** To the worker. `life` numbers what is open: answers about another one are of no use. */
export type ToWorker =
  | { type: 'open'; life: number; address: string; kind: string }
  | { type: 'frames'; life: number; frames: readonly StoredFrame[] }
  | { type: 'ask'; life: number; id: number; ask: Ask }

export type Ask =
  | { what: 'look'; seq: number; before?: number | undefined }
  | { what: 'moment'; seq: number }
  | { what: 'detail'; seq: number }
  | { what: 'text'; seq: number; at: readonly (string | number)[] }
  | { what: 'charts' }

export type Answers = {
  look: Looked
  moment: Moment
  detail: CommitDetail
  text: string
  charts: Record<string, Chart>
}

export type FromWorker =
  | { type: 'rows'; life: number; rows: readonly Row[]; origin?: Origin }
  /** The journal is sound up to the commit before. */
  | { type: 'corrupt'; life: number; seq: number; error: ErrorBody }
  | { type: 'progress'; life: number; applied: number }
  | { type: 'answer'; id: number; value: unknown }
  | { type: 'failed'; id: number; error: ErrorBody }
