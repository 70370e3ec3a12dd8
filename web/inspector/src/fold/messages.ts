/** What the page and the worker that folds journals say to each other. */
import type { CommitSteps, Moment } from '../../../../src/contracts/inspection.ts'
import type { ActorPath } from '../../../../src/contracts/journal.ts'

export type StoredFrame = { seq: number; bytes: string }

/** A mark on a lane: something that came in, or went wrong. */
export type Mark = { path: ActorPath; kind: 'message' | 'result' | 'timer' | 'error'; event: string }

/** One commit on the timeline. */
export type Row = {
  seq: number
  at: number
  epoch: number
  writer: string
  marks: Mark[]
  states: Record<ActorPath, unknown>
  /** Who lives after it; undefined where the journal is folded elsewhere. */
  living: { path: ActorPath; src: string }[] | undefined
  /** Runs that ended with it. */
  ended: string[]
  /** What its host did: took over, crashed, set aside, revived. */
  host: string[]
}

export type Look = { seq: number; moment: Moment; before: Moment | undefined; steps: CommitSteps }

export type Asked =
  | { type: 'open'; address: string }
  | { type: 'frames'; address: string; frames: StoredFrame[] }
  | { type: 'look'; address: string; seq: number }
export type Request = Asked & { id: number }

/** @property folds whether this page has the machine that wrote the journal */
export type Indexed = { rows: Row[]; folds: boolean; kind: string; signature: string }
export type Response = { id: number } & ({ ok: true; answer: unknown } | { ok: false; error: { code?: string; message: string; hint?: string } })
