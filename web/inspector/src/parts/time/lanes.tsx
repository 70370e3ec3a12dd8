/** The lanes: only what is in sight is drawn. */
import type { Mark, Row } from '../../fold/protocol.ts'
import type { Recorded } from '../../model.ts'
import { type Filter, isOfInterest } from '../../rules/filter.rules.ts'
import type { Lane } from '../../rules/lanes.rules.ts'
import { oneLine } from '../../rules/plain.rules.ts'
import { cutsIn, spanWords, timedColumns } from '../../rules/ruler.rules.ts'
import { type Span, stretchesOf } from '../../rules/spans.rules.ts'
import { type Window, xOf } from '../../rules/window.rules.ts'

export const top = 36
const markedFrom = 7
const namedFrom = 14

type LanesProps = {
  recorded: Recorded
  window: Window
  seq: number
  head: number
  chosen: string | undefined
  filter: Filter
  words: string
  labels: number
  width: number
  laneHeight: number
}

export const LanesDrawing = (props: LanesProps) => {
  const { recorded, window, seq, head, chosen, labels, width, laneHeight, filter, words } = props
  const lanes = recorded.lanes.all()
  const bottom = top + lanes.length * laneHeight
  const first = Math.max(1, Math.floor(window.first))
  const last = Math.min(head, Math.ceil(window.first + (width - labels) / window.perCommit))
  const x = (of: number) => Math.round((labels + xOf(window, of)) * 10) / 10
  const column = Math.max(1.5, window.perCommit)
  const rows = recorded.rows.slice(first - 1, last)
  const marked = new Set(rows.flatMap(({ seq: at, marks }) => marks.map(({ actor }) => `${recorded.lanes.keyOf(actor)} ${at}`)))
  const isFiltered = filter !== 'all' || words.trim() !== ''
  return (
    <svg class="lanes-drawing" width={width} height={bottom + 2} aria-hidden="true">
      <defs>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0 0v6" />
        </pattern>
        <clipPath id="columns">
          <rect x={labels - 6} y="0" width={width - labels + 6} height={bottom + 2} />
        </clipPath>
      </defs>
      {lanes.map((lane, index) => (
        <path key={lane.key} class="rule" d={`M0 ${top + index * laneHeight - 0.5}H${width}`} />
      ))}
      <g clip-path="url(#columns)">
        <Ruler {...props} first={first} last={last} x={x} bottom={bottom} />
        {lanes.map((lane, index) => (
          <LaneSpans key={lane.key} {...props} lane={lane} marked={marked} y={top + index * laneHeight} first={first} last={last} x={x} />
        ))}
        <rect class="cursor-column" x={x(seq)} y="16" width={column} height={bottom - 16} />
        {rows.map((row) => (
          <Marks key={row.seq} row={row} {...props} lanes={lanes} x={x} />
        ))}
        {isFiltered &&
          rows
            .filter((row) => !isOfInterest(row, filter, words))
            .map((row) => <rect key={`dim ${row.seq}`} class="dimmed" x={x(row.seq)} y={top} width={column} height={bottom - top} />)}
        {cutsIn(recorded.rows, first, last)
          .filter(({ killed }) => killed)
          .map((cut) => (
            <Kill
              key={`kill ${cut.seq}`}
              x={x(cut.seq)}
              bottom={bottom}
              words={`killed, resumed after ${spanWords(cut.ms)}`}
              right={x(cut.seq) - labels > 150}
            />
          ))}
        {x(head + 1) < width && <rect class="future" x={x(head + 1) + 2} y="16" width={Math.max(0, width - x(head + 1) - 2)} height={bottom - 16} />}
        <path class="cursor" d={`M${Math.round(x(seq) + Math.min(10, column / 2)) + 0.5} 16V${bottom}`} />
      </g>
      {lanes.map((lane, index) => (
        <text
          key={lane.key}
          class={lane.key === chosen ? 'lane chosen' : 'lane'}
          x={(labels > 90 ? 14 : 8) + Math.min(lane.depth, 3) * (labels > 90 ? 7 : 4)}
          y={top + index * laneHeight + laneHeight / 2 + 4}
        >
          {short(lane.name, labels > 90 ? 13 - Math.min(lane.depth, 3) : 10)}
        </text>
      ))}
    </svg>
  )
}

const short = (text: string, max: number): string => {
  const line = oneLine(text)
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

type Drawn = { first: number; last: number; x: (seq: number) => number; bottom: number }

const Ruler = ({ recorded, window, first, last, x, bottom, labels }: LanesProps & Drawn) => {
  const cuts = cutsIn(recorded.rows, first, last)
  const epochs = recorded.rows.slice(first - 1, last).filter((row, index, all) => index === 0 || all[index - 1]?.epoch !== row.epoch)
  const gone = new Set(cuts.map(({ seq }) => seq))
  return (
    <g>
      {epochs.map((row, index) => {
        const at = Math.max(x(row.seq) + 6, labels)
        const next = epochs[index + 1]
        // Of epochs that are too close to each other only the last is named.
        return next && x(next.seq) - at < 170 ? null : (
          <text key={row.seq} class="mini" x={at} y="11">
            epoch {row.epoch} · {short(row.writer, 18)}
          </text>
        )
      })}
      {timedColumns(recorded.rows, first, last, window.perCommit).map(({ seq, words }) =>
        gone.has(seq) && window.perCommit < 90 ? null : (
          <text key={seq} class="mini" x={x(seq) + 6} y="27">
            {words}
          </text>
        ),
      )}
      {window.perCommit >= markedFrom &&
        cuts
          .filter(({ killed }) => !killed)
          .map(({ seq, ms }) => (
            <g key={`cut ${seq}`}>
              <path class="cut" d={`M${x(seq)} 18V${bottom}`} />
              {window.perCommit >= namedFrom && (
                <text class="mini cut-words" x={x(seq) + 4} y="27">
                  +{spanWords(ms)}
                </text>
              )}
            </g>
          ))}
    </g>
  )
}

const LaneSpans = ({
  recorded,
  window,
  lane,
  marked,
  y,
  first,
  last,
  x,
  laneHeight,
  head,
  width,
  labels,
}: LanesProps & Omit<Drawn, 'bottom'> & { lane: Lane; marked: ReadonlySet<string>; y: number }) => {
  const spans = recorded.spans.between(lane.key, first, last)
  const height = laneHeight - 6
  if (window.perCommit < markedFrom) {
    const bounded = spans.map((span) => ({ ...span, to: Math.min(span.to ?? head + 1, head + 1) }))
    const byMood = Map.groupBy(stretchesOf(bounded, { first: window.first, perCommit: window.perCommit, width: width - labels }), ({ mood }) => mood)
    return (
      <g>
        {[...byMood].map(([mood, stretches]) => (
          <path
            key={mood}
            class={`thin ${mood}`}
            d={stretches.map((one) => `M${labels + one.x} ${y + 3}h${one.width}v${height}h-${one.width}z`).join('')}
          />
        ))}
      </g>
    )
  }
  return (
    <g>
      {spans
        .filter(({ mood }) => mood !== 'rest')
        .map((span) => (
          <SpanBox
            key={`${span.path} ${span.from}`}
            span={span}
            left={x(span.from) + 1}
            right={x(Math.min(span.to ?? head + 1, head + 1)) - 1.5}
            y={y + 2.5}
            height={height}
            edge={labels}
            hasMark={marked.has(`${lane.key} ${span.from}`)}
          />
        ))}
    </g>
  )
}

const SpanBox = ({
  span,
  left,
  right,
  y,
  height,
  edge,
  hasMark,
}: {
  span: Span
  left: number
  right: number
  y: number
  height: number
  edge: number
  hasMark: boolean
}) => {
  const width = Math.max(1, right - left)
  const seen = Math.max(left, edge)
  const indent = hasMark && seen === left ? 19 : 6
  const room = Math.floor((right - seen - indent - 3) / 6.4)
  return (
    <g class={`span ${span.mood}`}>
      <rect x={left} y={y} width={width} height={height} rx="4" />
      {room >= 3 && (
        <text x={seen + indent} y={y + height / 2 + 3.5}>
          {short(span.text, room)}
        </text>
      )}
    </g>
  )
}

const Marks = ({ row, recorded, lanes, window, x, laneHeight }: LanesProps & { row: Row; lanes: readonly Lane[]; x: Drawn['x'] }) => {
  const left = x(row.seq)
  const center = left + Math.min(10, window.perCommit / 2)
  const shown = window.perCommit >= markedFrom ? row.marks : row.marks.filter(({ kind }) => kind === 'error' || kind === 'doubt')
  return (
    <g>
      {shown.map((mark, index) => {
        const lane = lanes.findIndex(({ key }) => key === recorded.lanes.keyOf(mark.actor))
        return lane < 0 ? null : <MarkShape key={index} mark={mark} x={center} y={top + lane * laneHeight + laneHeight / 2 - 0.5} />
      })}
    </g>
  )
}

const MarkShape = ({ mark: { kind }, x, y }: { mark: Mark; x: number; y: number }) => {
  if (kind === 'error') return <path class="mark error" d={`M${x} ${y - 5.5}l5.5 9.5h-11z`} />
  if (kind === 'doubt') return <path class="mark doubt" d={`M${x} ${y - 5.5}l5.5 5.5-5.5 5.5-5.5-5.5z`} />
  if (kind === 'timer') return <path class="mark timer" d={`M${x - 4} ${y - 4.5}h8l-8 9h8z`} />
  return <circle class={`mark ${kind}`} cx={x} cy={y} r="4" />
}

const Kill = ({ x, bottom, words, right }: { x: number; bottom: number; words: string; right: boolean }) => {
  const height = bottom - 2
  const edge = (dx: number) => `M${x + dx} 2${[0, 1, 2, 3, 4, 5].map((index) => `l${index % 2 ? -3 : 3} ${height / 6}`).join('')}`
  return (
    <g class="kill">
      <rect x={x - 4.5} y="2" width="9" height={height} />
      <path d={edge(-4)} />
      <path d={edge(2.5)} />
      <text x={right ? x - 9 : x + 9} y="11" text-anchor={right ? 'end' : 'start'}>
        {words}
      </text>
    </g>
  )
}
