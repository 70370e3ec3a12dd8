/** A chart that was laid out, as it is at one moment: only the looks of states and wires change. */
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  type DrawnTransition,
  glyphs,
  lineHeight,
  type PlacedBox,
  type PlacedChart,
  type PlacedRow,
  type PlacedWire,
  rowHeight,
} from '../../../../src/actors/index.ts'
import type { Candidate, TransitionRef } from '../../../../src/contracts/inspection.ts'
import type { HeatMap } from '../rules/heat.rules.ts'
import { oneLine } from '../rules/plain.rules.ts'
import { refName } from './refs.rules.ts'
import { Transitions } from './transitions.tsx'

type Props = {
  chart: PlacedChart
  active: readonly string[]
  taken: readonly TransitionRef[]
  /** Where only these are to stand out. */
  possible: readonly TransitionRef[] | undefined
  candidates: readonly Candidate[]
  /** How often each part was gone through. */
  heat: HeatMap | undefined
}
type Looks = { active: ReadonlySet<string>; taken: ReadonlySet<string>; possible: ReadonlySet<string> | undefined; heat?: HeatMap | undefined }
type Picked = { transitions: readonly DrawnTransition[]; x: number; y: number }

export const ChartDrawing = ({ chart, active, taken, possible, candidates, heat }: Props) => {
  const [picked, setPicked] = useState<Picked>()
  const pane = useRef<HTMLDivElement>(null)
  const scale = useScale(pane, chart)
  const looks: Looks = {
    active: new Set(active),
    taken: new Set(taken.map(refName)),
    possible: possible && !heat ? new Set(possible.map(refName)) : undefined,
    heat,
  }
  const { width, height, boxes, wires, rows, docked, id, level } = chart
  useEffect(() => setPicked(undefined), [chart, active])
  // What is active stays in sight.
  useEffect(() => keepInSight(pane.current), [chart, active.join(), scale])
  const pick = (transitions: readonly DrawnTransition[], x: number, y: number) => setPicked({ transitions, x, y })
  const summary = active.length > 0 ? `active: ${active.slice(1).join(', ')}` : 'nothing is active'
  return (
    <div class={`drawing ${level}${heat ? ' heat' : possible ? ' dim' : ''}`} ref={pane}>
      {/* biome-ignore lint/a11y/useSemanticElements: it is a drawing with buttons in it */}
      <svg
        viewBox={`0 0 ${width} ${height}`}
        style={{ width: `${Math.round(width * scale)}px` }}
        role="group"
        aria-label={oneLine(`${id}: ${summary}`)}
      >
        <defs>
          {(['', 'lit', 'taken'] as const).map((kind) => (
            <marker
              key={kind}
              id={`tip${kind}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerUnits="userSpaceOnUse"
              markerWidth="9"
              markerHeight="9"
              orient="auto"
            >
              <path class={`tip ${kind}`} d="M0 0 8 4 0 8z" />
            </marker>
          ))}
        </defs>
        {rows.length > 0 && <Label x={12} y={20} text="in every state" kind="soft" />}
        <Rows rows={rows} left={120} top={8} looks={looks} pick={pick} />
        {boxes
          .filter(({ isOuter }) => isOuter)
          .map((box) => (
            <Box key={box.id} box={box} looks={looks} pick={pick} />
          ))}
        {wires.map((wire) => (
          <Path key={wire.id} wire={wire} looks={looks} />
        ))}
        {boxes
          .filter(({ isOuter }) => !isOuter)
          .map((box) => (
            <Box key={box.id} box={box} looks={looks} pick={pick} />
          ))}
        {wires.map((wire) => (
          <Chip key={wire.id} wire={wire} looks={looks} pick={pick} />
        ))}
        {docked !== undefined && <path class="rule" d={`M8 ${docked}H${width - 8}`} />}
      </svg>
      {picked && (
        <Transitions
          transitions={picked.transitions}
          x={picked.x * scale}
          y={picked.y * scale}
          candidates={candidates}
          heat={heat}
          onClose={() => setPicked(undefined)}
        />
      )}
    </div>
  )
}

/** As large as there is room for, and never so small that nobody can read it: then the part is shown that is active. */
const useScale = (pane: { current: HTMLDivElement | null }, { width, height, level }: PlacedChart): number => {
  const [scale, setScale] = useState(1)
  useEffect(() => {
    const outer = pane.current?.closest('.canvas')
    if (!outer) return
    const resize = () => {
      const whole = Math.min(1, (outer.clientWidth - 32) / width, (outer.clientHeight - 20) / height)
      setScale(whole < (level === 'overview' ? 0.62 : 0.72) ? 0.82 : whole)
    }
    const observer = new ResizeObserver(resize)
    observer.observe(outer)
    resize()
    return () => observer.disconnect()
  }, [width, height, level])
  return scale
}

/** px around what is active. */
const around = 24

/** All that is active, as far as there is room; else what comes first of it. */
const keepInSight = (pane: HTMLElement | null): void => {
  const outer = pane?.closest('.canvas')
  const boxes = [...(pane?.querySelectorAll('.leaf.active') ?? [])].map((leaf) => leaf.getBoundingClientRect())
  if (!outer || boxes.length === 0) return
  const { left, top, right, bottom } = outer.getBoundingClientRect()
  const all = (side: 'left' | 'top' | 'right' | 'bottom'): number[] => boxes.map((box) => box[side])
  const by = (from: number, to: number, begin: number, end: number): number =>
    from < begin + around ? from - begin - around : to > end - around ? Math.min(to - end + around, from - begin - around) : 0
  outer.scrollBy({
    left: by(Math.min(...all('left')), Math.max(...all('right')), left, right),
    top: by(Math.min(...all('top')), Math.max(...all('bottom')), top, bottom),
  })
}

type Pick = (transitions: readonly DrawnTransition[], x: number, y: number) => void

const looksOf = (transitions: readonly DrawnTransition[], { taken, possible, heat }: Looks): string => {
  if (heat) return ` heat-${heat.transitions(transitions.map(({ ref }) => ref)).heat}`
  const names = transitions.map(({ ref }) => refName(ref))
  if (names.some((name) => taken.has(name))) return ' taken'
  return possible && !names.some((name) => possible.has(name)) ? ' off' : ''
}

const Path = ({ wire: { path, chip, transitions }, looks }: { wire: PlacedWire; looks: Looks }) => {
  const more = looksOf(transitions, looks)
  return (
    <path class={`wire${chip.glyph === 'error' ? ' fails' : ''}${more}`} d={path} marker-end={`url(#tip${more.includes('taken') ? 'taken' : ''})`} />
  )
}

const Chip = ({ wire: { chip, transitions }, looks, pick }: { wire: PlacedWire; looks: Looks; pick: Pick }) => {
  const { x, y, width, height, lines, glyph, order } = chip
  return (
    <Button
      kind={`chip${looksOf(transitions, looks)}`}
      name={named([...lines, ...(order === undefined ? [] : [order])].join(' '), transitions)}
      onPick={() => pick(transitions, x + width / 2, y + height)}
    >
      <rect x={x} y={y} width={width} height={height} rx={5} />
      <path class="glyph" transform={`translate(${x + 4} ${y + 4})`} d={glyphs[glyph]} />
      {/* Words of their own, and not one long one: what is read aloud is what stands there. */}
      {lines.flatMap((text, index) => [<Label key={text} x={x + 17} y={y + 13 + index * 15} text={text} />, ' '])}
      {order !== undefined && <Label x={x + width - 5} y={y + 13} text={`${order}`} kind="soft" anchor="end" />}
    </Button>
  )
}

const Box = ({ box, looks, pick }: { box: PlacedBox; looks: Looks; pick: Pick }) => {
  const { id, name, type, history, initial, region, x, y, width, height, isOuter, lines, rows, staysText, stays, description } = box
  const isActive = looks.active.has(id)
  const kind = `${isOuter ? 'outer' : 'leaf'}${region ? ' region' : ''}${isActive && !looks.heat ? ' active' : ''}${looks.heat && !isOuter ? ` heat-${looks.heat.state(id).heat}` : ''}`
  if (type === 'history')
    return (
      <g class={kind}>
        <circle cx={x + 14} cy={y + 14} r={12} />
        <Label x={x + 14} y={y + 18} text={history === 'deep' ? 'H*' : 'H'} anchor="middle" />
      </g>
    )
  return (
    <g class={kind} data-state={id} aria-current={isActive || undefined}>
      <title>{oneLine(looks.heat ? `entered ${looks.heat.state(id).count} times` : (description ?? id))}</title>
      <rect x={x} y={y} width={width} height={height} rx={8} />
      {type === 'final' && <rect class="ring" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} />}
      {initial && <circle class="dot" cx={x + 15} cy={y + 17} r={3.5} />}
      <Label x={x + 12 + (initial ? 14 : 0)} y={y + 22} text={name} kind="name" />
      {staysText !== '' && (
        <Button kind={`stay${looksOf(stays, looks)}`} name={named(staysText, stays)} onPick={() => pick(stays, x + width / 2, y + height)}>
          <Label x={x + width - 10} y={y + 21} text={staysText} kind="soft" anchor="end" />
        </Button>
      )}
      {lines.map((line, index) => (
        <g key={`${line.kind} ${line.text}`} class={looksOf(line.transitions, { ...looks, possible: undefined })}>
          <path class="glyph" transform={`translate(${x + 12} ${y + 36 + index * lineHeight})`} d={glyphs[line.kind]} />
          <Label x={x + 27} y={y + 45 + index * lineHeight} text={line.text} kind="soft" />
        </g>
      ))}
      <Rows rows={rows} left={x + 8} top={y + 36 + lines.length * lineHeight} looks={looks} pick={pick} />
    </g>
  )
}

const Rows = ({ rows, left, top, looks, pick }: { rows: readonly PlacedRow[]; left: number; top: number; looks: Looks; pick: Pick }) => (
  <>
    {rows.map(({ head, chips }, index) => {
      const y = top + index * rowHeight
      return (
        <g key={`${head} ${index}`}>
          {head !== '' && <Label x={left} y={y + 12} text={head} kind="soft" />}
          {chips.map(({ text, x, width, transitions }) => (
            <Button
              key={text}
              kind={`chip${looksOf(transitions, looks)}`}
              name={named(text, transitions)}
              onPick={() => pick(transitions, left + x, y + 18)}
            >
              <rect x={left + x} y={y} width={width} height={17} rx={5} />
              <Label x={left + x + 6} y={y + 12} text={text} />
            </Button>
          ))}
        </g>
      )
    })}
  </>
)

/** What can be seen of it, and the events in words. */
const named = (seen: string, transitions: readonly DrawnTransition[]): string => {
  const events = [...new Set(transitions.map(({ event }) => event))].join(', ')
  return oneLine(events === seen ? seen : `${seen}: ${events}`)
}

type ButtonProps = { kind: string; name: string; onPick(): void; children: preact.ComponentChildren }

const Button = ({ kind, name, onPick, children }: ButtonProps) => (
  // biome-ignore lint/a11y/useSemanticElements: there is no button in an SVG
  <g
    class={kind}
    role="button"
    tabIndex={0}
    aria-label={name}
    onClick={onPick}
    onKeyDown={(event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return
      event.preventDefault()
      onPick()
    }}
  >
    {children}
  </g>
)

const Label = ({ x, y, text, kind, anchor }: { x: number; y: number; text: string; kind?: string; anchor?: 'end' | 'middle' }) => (
  <text x={x} y={y} class={kind} text-anchor={anchor}>
    {oneLine(text)}
  </text>
)
