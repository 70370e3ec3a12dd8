/** Where a run stands in a journal. */
import type { Row } from '../fold/messages.ts'

/** @returns the commit with the last answer of a model in a run that has ended; that with which it ended, where no model was asked */
export const answerOf = (rows: readonly Row[], run: string): number | undefined => {
  const end = rows.findIndex(({ ended }) => ended.includes(run))
  if (end < 0) return undefined
  const before = rows.findLastIndex(({ ended }, index) => index < end && ended.length > 0)
  const answer = rows.findLast(
    ({ marks }, index) => index > before && index <= end && marks.some(({ path, kind }) => kind === 'result' && /\/model#\d+$/.test(path)),
  )
  return (answer ?? rows[end])?.seq
}
