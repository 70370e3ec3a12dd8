/** What came in with the commit. */
import { useState } from 'preact/hooks'
import type { CommitDetail, Row } from '../../fold/protocol.ts'
import type { InspectorView } from '../../model.ts'
import { exactClock } from '../../rules/ruler.rules.ts'
import { eventName, mainMark } from '../../rules/sentence.rules.ts'
import { Dot } from '../dot.tsx'
import { Said } from '../text.tsx'
import { Value } from './value.tsx'

export const EventHead = ({ view, row }: { view: InspectorView; row: Row }) => {
  const main = mainMark(row)
  const others = row.marks.filter((mark) => mark !== main)
  return (
    <section class="event-head">
      {main && (
        <h2>
          {main.kind === 'error' && <Dot mood="fail" />}
          {main.kind === 'doubt' && <Dot mood="doubt" />}
          <Said text={eventName(main, view.recorded)} />
        </h2>
      )}
      {main && main.words !== '' && (
        <p>
          <Said text={main.words} />
        </p>
      )}
      {others.map((mark, index) => (
        <p key={index} class="also">
          <b>
            <Said text={eventName(mark, view.recorded)} />
          </b>{' '}
          <Said text={mark.words} />
        </p>
      ))}
      <p class="meta num">
        <span>commit {row.seq}</span>
        <span>{exactClock(row.at)}</span>
        <span>epoch {row.epoch}</span>
        <span>
          <Said text={row.writer} />
        </span>
      </p>
    </section>
  )
}

/** The inputs as they stand in the journal, and what was noted beside them. */
export const Inputs = ({ detail, row, view }: { detail: CommitDetail; row: Row; view: InspectorView }) => {
  const { inputs, notes, seq } = detail
  // Marks are the inputs first, in their order.
  const nameOf = (index: number) => row.marks[index] && eventName(row.marks[index], view.recorded)
  return (
    <>
      {inputs.map((event, index) => (
        <Folded
          key={`${seq} ${index}`}
          name={`Input${inputs.length > 1 ? ` ${index + 1}` : ''}: ${nameOf(index) ?? event.type}`}
          value={event}
          seq={seq}
        />
      ))}
      {notes.length > 0 && <Folded key={`${seq} notes`} name="Noted" value={notes} seq={seq} />}
    </>
  )
}

const Folded = ({ name, value, seq }: { name: string; value: unknown; seq: number }) => {
  const [open, set] = useState(false)
  return (
    <details open={open} onToggle={(event) => set(event.currentTarget.open)}>
      <summary>
        <h3>
          <Said text={name} />
        </h3>
      </summary>
      {open && <Value value={value} seq={seq} />}
    </details>
  )
}
