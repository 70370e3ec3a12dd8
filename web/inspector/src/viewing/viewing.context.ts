/** What the chart of the page knows, and what it hears. */
import type { ErrorBody } from '../../../../src/contracts/errors.ts'
import type { Looked } from '../fold/protocol.ts'

export type Subject = { kind: string; id: string }

export type ViewingContext = {
  subject: Subject | undefined
  /** The moment that is looked at; 0 before the first commit is known. */
  seq: number
  /** The last commit that is known. */
  head: number
  /** Commits that came since somebody stepped away from the head. */
  fresh: number
  /** What a moment is compared with: the commit before, unless one was pinned. Undefined: nobody looks at the difference. */
  compares: 'before' | number | undefined
  looked: Looked | undefined
  error: ErrorBody | undefined
  /** From here on the journal is damaged. */
  corrupt: { seq: number; error: ErrorBody } | undefined
}

export type ViewingEvent =
  | { type: 'open'; subject: Subject; seq: number | undefined }
  /** The list was read: what stands first in it, and whether there is nothing to look at at all. */
  | { type: 'listed'; first: Subject | undefined; isEmpty: boolean }
  | { type: 'connected' }
  | { type: 'disconnected' }
  | { type: 'grown'; head: number }
  | { type: 'read' }
  | { type: 'corrupt'; seq: number; error: ErrorBody }
  | { type: 'unreadable'; error: ErrorBody }
  | { type: 'seek'; seq: number }
  | { type: 'live' }
  | { type: 'compare'; with: 'before' | number | undefined }
  | { type: 'again' }

export type LookInput = { subject: Subject; seq: number; before: number | undefined }

/** Nothing comes before the first commit. */
export const comparedWith = ({ compares, seq }: Pick<ViewingContext, 'compares' | 'seq'>): number | undefined => {
  const before = compares === 'before' ? seq - 1 : compares
  return before === undefined || before < 1 ? undefined : before
}

export const isWanted = (looked: Looked | undefined, context: Pick<ViewingContext, 'compares' | 'seq'>): boolean =>
  looked?.seq === context.seq && (comparedWith(context) === undefined || looked.before?.seq === comparedWith(context))
