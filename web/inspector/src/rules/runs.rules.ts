/** Where a run stands in a journal. */
import type { Row } from '../fold/protocol.ts'

/** @returns the commit with the last answer of a model in a run that has ended; that with which it ended, where no model was asked */
export const answerOf = (rows: readonly Row[], run: string): number | undefined => {
  const end = rows.findIndex(({ ended }) => ended?.includes(run))
  if (end < 0) return undefined
  const before = rows.findLastIndex(({ ended }, index) => index < end && ended !== undefined)
  const answer = rows.findLast(
    ({ marks }, index) => index > before && index <= end && marks.some(({ actor, kind }) => kind === 'result' && /\/model#\d+$/.test(actor)),
  )
  return (answer ?? rows[end])?.seq
}
