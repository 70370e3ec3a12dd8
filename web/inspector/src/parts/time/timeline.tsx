/** The timeline: one column a commit, one lane for each role. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useMedia, useModel, useSize } from '../../hooks.ts'
import type { InspectorView } from '../../model.ts'
import { type Filter, filtersOf } from '../../rules/filter.rules.ts'
import { toldOf } from '../../rules/sentence.rules.ts'
import { atRest, fitted, panned, seqAt, showing, stripFrom, type Window, xOf, zoomed } from '../../rules/window.rules.ts'
import { Icon } from '../icons.tsx'
import { Events } from './events.tsx'
import { LanesDrawing, top } from './lanes.tsx'
import { Strip } from './strip.tsx'

const filterNames: Record<Filter, string> = { all: 'All', inputs: 'Inputs', model: 'Model', tools: 'Tools', effects: 'Effects', errors: 'Errors' }

export const Timeline = ({ view, chosen }: { view: InspectorView; chosen: string | undefined }) => {
  const model = useModel()
  const box = useRef<HTMLDivElement>(null)
  const { width, height } = useSize(box)
  const isNarrow = useMedia('(max-width: 720px)')
  const [wanted, choose] = useState<Filter>('all')
  const [isList, list] = useState(false)
  const [words, look] = useState('')
  const { recorded, place } = view
  const { seq, head } = place
  const filters = filtersOf(view.subject?.kind)
  const filter = filters.includes(wanted) ? wanted : 'all'
  const labels = isNarrow ? 82 : 106
  const room = Math.max(1, width - labels - (isNarrow ? 8 : 14))
  const { window, change } = useWindow(head, seq, room, `${view.subject?.kind} ${view.subject?.id}`)
  const lanes = recorded.lanes.all().length
  const laneHeight = isNarrow ? 15 : Math.max(18, Math.min(22, Math.floor((height - top - 2) / Math.max(1, lanes))))
  const row = recorded.rows[seq - 1]
  const columns = room / window.perCommit

  const seekAt = (event: PointerEvent) => {
    const { left } = (event.currentTarget as Element).getBoundingClientRect()
    const x = event.clientX - left - labels
    if (x >= 0) model.seek(Math.max(1, Math.min(head, seqAt(window, x))))
  }
  const rolled = (event: WheelEvent) => {
    if (head <= 12) return
    const { left } = (event.currentTarget as Element).getBoundingClientRect()
    if (event.ctrlKey) {
      event.preventDefault()
      change(zoomed(window, Math.exp(-event.deltaY / 200), event.clientX - left - labels, head, room))
    } else if (event.deltaX !== 0 || event.shiftKey) change(panned(window, (event.deltaX || event.deltaY) / window.perCommit, head, room))
  }
  const stripKey = (event: KeyboardEvent) => {
    const act = {
      w: () => zoomed(window, 1.5, room / 2, head, room),
      s: () => zoomed(window, 1 / 1.5, room / 2, head, room),
      a: () => panned(window, -columns / 4, head, room),
      d: () => panned(window, columns / 4, head, room),
    }[event.key.toLowerCase()]
    if (!act) return
    event.stopPropagation()
    event.preventDefault()
    change(act())
  }
  return (
    <section class={isList ? 'time as-list' : 'time'} aria-label="Timeline">
      <div class="bar">
        <Stepper view={view} />
        <Live view={view} />
        <fieldset class="filters" aria-label="Show">
          {filters.map((name) => (
            <button key={name} type="button" aria-pressed={filter === name} onClick={() => choose(name)}>
              {filterNames[name]}
            </button>
          ))}
        </fieldset>
        <label class="find small">
          <Icon name="search" />
          <input value={words} placeholder="event, state, text" aria-label="Filter events" onInput={(event) => look(event.currentTarget.value)} />
        </label>
        <button
          type="button"
          class="toggle toggle-list"
          aria-pressed={isList}
          title="Each commit in words, instead of the lanes"
          onClick={() => list(!isList)}
        >
          List
        </button>
        <span class="hint">one column a commit</span>
      </div>
      {head > stripFrom && !isList && width > labels + 14 && (
        <div class="strip-row" style={{ paddingLeft: `${labels}px` }}>
          <Strip
            recorded={recorded}
            window={window}
            head={head}
            seq={seq}
            width={room}
            columns={columns}
            onMove={(first) => change(atRest({ ...window, first }, head, room))}
            onKey={stripKey}
          />
        </div>
      )}
      <section
        class="lanes"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where there are more lanes than there is room for
        tabIndex={0}
        aria-label="Lanes"
        ref={box}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          if (event.pointerType === 'mouse') event.currentTarget.setPointerCapture(event.pointerId)
          seekAt(event)
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && event.buttons === 1 && seekAt(event)}
        onWheel={rolled}
      >
        {width > labels + 14 && head > 0 && (
          <LanesDrawing
            recorded={recorded}
            window={window}
            seq={seq}
            head={head}
            chosen={chosen}
            filter={filter}
            words={words}
            labels={labels}
            width={width - (isNarrow ? 0 : 14)}
            laneHeight={laneHeight}
          />
        )}
      </section>
      <div class="scrub" style={scrubbed(window, head, labels, room)}>
        <input
          type="range"
          min={1}
          max={Math.max(1, head)}
          value={Math.max(1, seq)}
          disabled={head === 0}
          aria-label="Moment"
          aria-valuetext={row ? toldOf(row, recorded, head) : undefined}
          onInput={(event) => model.seek(Number(event.currentTarget.value))}
        />
      </div>
      <Events recorded={recorded} seq={seq} head={head} />
    </section>
  )
}

/** Under the columns where all of them are seen, else under the whole width. */
const scrubbed = (window: Window, head: number, labels: number, room: number) => {
  const end = xOf(window, head) + Math.min(20, window.perCommit)
  const isWhole = window.first <= 1 && end <= room + 1
  const half = Math.min(10, window.perCommit / 2)
  return {
    paddingLeft: `${labels + (isWhole ? half - 8 : 0)}px`,
    paddingRight: `${isWhole ? Math.max(6, room + 14 - xOf(window, head) - half - 8) : 14}px`,
  }
}

/** The window follows the moment, and otherwise stays where a person has put it. */
const useWindow = (head: number, seq: number, room: number, subject: string) => {
  const [put, change] = useState<{ window: Window; subject: string }>()
  const window = useMemo(() => {
    const own = put?.subject === subject ? atRest(put.window, head, room) : undefined
    return own ?? showing(fitted(head, room), Math.max(1, seq), head, room)
  }, [put, head, room, subject, seq])
  const shown = useRef(window)
  shown.current = window
  useEffect(() => {
    if (seq < 1 || room <= 1) return
    const next = showing(shown.current, seq, head, room)
    if (next.first !== shown.current.first && (put !== undefined || head > stripFrom)) change({ window: next, subject })
  }, [seq])
  return { window, change: (next: Window) => change({ window: next, subject }) }
}

const Stepper = ({ view: { place } }: { view: InspectorView }) => {
  const model = useModel()
  const { seq, head } = place
  return (
    <div class="step">
      <button type="button" class="icon" aria-label="One commit back" title="Back (←)" disabled={seq <= 1} onClick={() => model.seek(seq - 1)}>
        <Icon name="previous" />
      </button>
      <output class="num">
        {seq} / {head}
      </output>
      <button type="button" class="icon" aria-label="One commit on" title="On (→)" disabled={seq >= head} onClick={() => model.seek(seq + 1)}>
        <Icon name="next" />
      </button>
    </div>
  )
}

const Live = ({ view: { place, connection } }: { view: InspectorView }) => {
  const model = useModel()
  const isHere = connection.state === 'connected'
  const isLive = place.live && isHere
  return (
    <button type="button" class="live" aria-pressed={isLive} title="Go along with what is new (L)" onClick={() => model.live()}>
      <i aria-hidden="true" />
      {!isHere ? 'Away' : place.fresh > 0 && !place.live ? `Live · ${place.fresh} new` : 'Live'}
    </button>
  )
}
