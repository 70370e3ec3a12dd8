/** What happened when: a column for each commit, a lane for each place in the tree. */
import { useMemo, useState } from 'preact/hooks'
import type { Row } from '../fold/messages.ts'
import type { Model, Opened } from '../model.ts'
import { type Lane, lanesOf, windowOf } from '../rules/lanes.rules.ts'
import { gapText, momentText } from '../rules/text.rules.ts'
import { Text } from './text.tsx'

const laneHeight = 23
const top = 34
/** ms without a commit that are written down. */
const quietMs = 5_000

export const Timeline = ({ opened, model }: { opened: Opened; model: Model }) => {
  const { rows, seq, live, kind, head } = opened
  const [words, setWords] = useState('')
  const lanes = useMemo(() => lanesOf(rows, kind), [rows, kind])
  const { from, to } = windowOf(seq, rows.length)
  const fresh = live ? 0 : rows.length - seq
  return (
    <section class="timeline" aria-label="Timeline">
      <header>
        <button type="button" class="icon" aria-label="Commit before" disabled={seq <= 1} onClick={() => model.go(seq - 1)}>
          ‹
        </button>
        <span class="mono num">
          {seq} / {Math.max(head, rows.length)}
        </span>
        <button type="button" class="icon" aria-label="Next commit" disabled={seq >= rows.length} onClick={() => model.go(seq + 1)}>
          ›
        </button>
        <button type="button" class="button live" aria-pressed={live} onClick={() => model.follow(!live)}>
          {live ? '● Live' : fresh > 0 ? `Live · ${fresh} later` : 'Live'}
        </button>
        <input
          type="search"
          placeholder="Event, state"
          aria-label="Filter events"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <span class="grow" />
        <span class="fine">{from > 1 || to < rows.length ? `commits ${from} to ${to}` : 'one column a commit'}</span>
      </header>
      <Lanes rows={rows} lanes={lanes} from={from} to={to} words={words.toLowerCase()} opened={opened} model={model} />
      <input
        class="slider"
        type="range"
        min={1}
        max={Math.max(rows.length, 1)}
        value={Math.max(seq, 1)}
        aria-label="Commit"
        aria-valuetext={`commit ${seq} of ${rows.length}`}
        onInput={(event) => model.go(event.currentTarget.valueAsNumber)}
      />
    </section>
  )
}

type LanesProps = { rows: readonly Row[]; lanes: readonly Lane[]; from: number; to: number; words: string; opened: Opened; model: Model }

const Lanes = ({ rows, lanes, from, to, words, opened, model }: LanesProps) => {
  const count = Math.max(to - from + 1, 1)
  const shown = rows.slice(from - 1, to)
  const height = top + lanes.length * laneHeight
  const left = (at: number) => `${((at - from) / count) * 100}%`
  const width = (span: number) => `${(span / count) * 100}%`
  const fits = (...texts: string[]) => words === '' || texts.some((text) => text.toLowerCase().includes(words))
  return (
    <div class="lanes" style={{ height: `${height}px` }}>
      <div class="names">
        {lanes.map((lane, index) => (
          <span key={lane.name + index} style={{ top: `${top + index * laneHeight}px`, paddingLeft: `${lane.depth * 8}px` }}>
            <Text>{lane.name}</Text>
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys and the slider do the same */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys and the slider do the same */}
      <div
        class="columns"
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          model.go(from + Math.floor(((event.clientX - box.left) / box.width) * count))
        }}
      >
        <div class="cursor" style={{ left: left(opened.seq), width: width(1) }} />
        {shown.map((row, index) => (
          <Ruler key={row.seq} row={row} before={rows[row.seq - 2]} left={left(row.seq)} every={count > 40 ? 10 : 5} index={index} />
        ))}
        {lanes.map((lane, index) => (
          <div key={lane.name + index} class="lane" style={{ top: `${top + index * laneHeight}px` }}>
            {lane.spans
              .filter((span) => span.to > from && span.from <= to)
              .map((span) => (
                <span
                  key={span.from}
                  class={`span ${span.tone}${fits(span.state) ? '' : ' off'}`}
                  title={span.state}
                  style={{
                    left: left(Math.max(span.from, from)),
                    width: width(Math.max(Math.min(span.to, to + 1) - Math.max(span.from, from), 0.4)),
                  }}
                >
                  <Text>{span.state}</Text>
                </span>
              ))}
            {lane.marks
              .filter((mark) => mark.seq >= from && mark.seq <= to)
              .map((mark, place) => (
                <span
                  key={`${mark.seq} ${place}`}
                  class={`mark ${mark.kind}${fits(mark.event) ? '' : ' off'}`}
                  title={mark.event}
                  style={{ left: left(mark.seq) }}
                />
              ))}
          </div>
        ))}
      </div>
    </div>
  )
}

type RulerProps = { row: Row; before: Row | undefined; left: string; every: number; index: number }

const Ruler = ({ row, before, left, every, index }: RulerProps) => {
  const gap = before ? row.at - before.at : 0
  const isBreak = row.host.length > 0
  const isNewEpoch = before !== undefined && before.epoch !== row.epoch
  return (
    <>
      {(index % every === 0 || gap > quietMs) && (
        <span class="tick mono" style={{ left }}>
          {gap > quietMs ? gapText(gap) : momentText(row.at).slice(0, 8)}
        </span>
      )}
      {(isBreak || isNewEpoch) && (
        <span class="break" style={{ left }} title={[`epoch ${row.epoch}`, ...row.host].join(', ')}>
          <span class="mono">{row.host[0] ?? `epoch ${row.epoch}`}</span>
        </span>
      )}
    </>
  )
}
