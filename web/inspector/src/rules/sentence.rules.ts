/** A commit in words. */
import type { Mark, Row } from '../fold/protocol.ts'
import type { Recorded } from '../model.ts'
import { shortName } from './actors.rules.ts'
import { stateText } from './moods.rules.ts'

/** The input that says most of a commit: an error before a result before anything else. */
export const mainMark = ({ marks }: Row): Mark | undefined => marks.find(({ kind }) => kind === 'error' || kind === 'doubt') ?? marks[0]

/** `done(model)`, `message`: as a chart writes the event. */
export const eventName = ({ actor, kind, event }: Mark, recorded: Recorded): string =>
  kind === 'result' || kind === 'error'
    ? /^(?:done|error|next)$/.test(event)
      ? `${event}(${shortName(actor, recorded).replace(/#\d+$/, '')})`
      : event
    : event

export const sentenceOf = (row: Row, recorded: Recorded): { event: string; words: string } => {
  const mark = mainMark(row)
  if (!mark) return { event: 'commit', words: '' }
  const more = row.marks.length - 1
  return { event: `${eventName(mark, recorded)}${more > 0 ? ` and ${more} more` : ''}`, words: mark.words }
}

/** What a screen reader is told of a moment. */
export const toldOf = (row: Row, recorded: Recorded, head: number): string => {
  const { event, words } = sentenceOf(row, recorded)
  const changed = Object.entries(row.states)
    .slice(0, 4)
    .map(([path, value]) => `${shortName(path, recorded)} is ${stateText(value)}`)
  return [`${row.seq} of ${head}: ${event}`, words, ...changed].filter((part) => part !== '').join(', ')
}
