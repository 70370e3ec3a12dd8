/** The same as a list: for screen readers, for narrow pages, where lanes are too small to read, and for who wants words. The newest first. */
import { useModel } from '../../hooks.ts'
import type { Recorded } from '../../model.ts'
import { exactClock, spanWords } from '../../rules/ruler.rules.ts'
import { sentenceOf } from '../../rules/sentence.rules.ts'
import { Said } from '../text.tsx'

const shownMax = 60

export const Events = ({ recorded, seq, head }: { recorded: Recorded; seq: number; head: number }) => {
  const model = useModel()
  const last = Math.min(head, seq + shownMax / 2)
  const rows = recorded.rows.slice(Math.max(0, last - shownMax), last).toReversed()
  return (
    <ol class="events" aria-label="Commits, the newest first" reversed>
      {rows.map((row) => {
        const { event, words } = sentenceOf(row, recorded)
        return (
          <li key={row.seq}>
            <button type="button" aria-current={row.seq === seq ? 'true' : undefined} onClick={() => model.seek(row.seq)}>
              <i class="num">{row.seq}</i>
              <b>
                <Said text={event} />
              </b>
              <i class="num">{exactClock(row.at)}</i>
              <span>
                <Said text={words} />
              </span>
            </button>
            {row.killed && (
              <p class="killed">
                The node was killed while this was working. It resumed {spanWords(row.at - (recorded.rows[row.seq - 2]?.at ?? row.at))} after the last
                commit.
              </p>
            )}
          </li>
        )
      })}
    </ol>
  )
}
