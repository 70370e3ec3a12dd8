/** The whole of a long trace in one strip, with the window in it. */
import { useMemo } from 'preact/hooks'
import type { Recorded } from '../../model.ts'
import { isLoud } from '../../rules/filter.rules.ts'
import { stretchesOf } from '../../rules/spans.rules.ts'
import type { Window } from '../../rules/window.rules.ts'

const height = 18

type StripProps = {
  recorded: Recorded
  window: Window
  head: number
  seq: number
  width: number
  columns: number
  onMove(first: number): void
  onKey(event: KeyboardEvent): void
}

export const Strip = ({ recorded, window, head, seq, width, columns, onMove, onKey }: StripProps) => {
  const perCommit = width / head
  const { paths, loud } = useMemo(() => {
    const spans = recorded.lanes
      .all()
      .slice(1)
      .flatMap(({ key }) => recorded.spans.between(key, 1, head))
    const byMood = Map.groupBy(
      stretchesOf(
        spans.map((span) => ({ ...span, to: Math.min(span.to ?? head + 1, head + 1) })),
        { first: 1, perCommit, width },
      ),
      ({ mood }) => mood,
    )
    return {
      paths: [...byMood].map(([mood, all]) => [mood, all.map((one) => `M${one.x} 5h${one.width}v${height - 8}h-${one.width}z`).join('')] as const),
      // Each error is seen, however many commits share a pixel.
      loud: [
        ...new Set(
          recorded.rows
            .filter((row) => isLoud(row) && row.marks.some(({ kind }) => kind === 'error'))
            .map((row) => Math.round((row.seq - 1) * perCommit)),
        ),
      ],
    }
  }, [recorded.version, head, width])
  const moved = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    onMove(1 + (event.clientX - box.left) / perCommit - columns / 2)
  }
  return (
    <div
      class="strip"
      role="slider"
      tabIndex={0}
      aria-label="Part of the trace that is shown: A and D move it, W and S zoom"
      aria-valuemin={1}
      aria-valuemax={head}
      aria-valuenow={Math.round(window.first)}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        moved(event)
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && moved(event)}
    >
      <svg width={width} height={height} aria-hidden="true">
        {paths.map(([mood, path]) => (
          <path key={mood} class={`thin ${mood}`} d={path} />
        ))}
        <path class="loud" d={loud.map((x) => `M${x - 2.5} 5l2.5-4.500 2.500 4.500z`).join('')} />
        <path class="cursor" d={`M${(seq - 0.5) * perCommit} 0V${height}`} />
        <rect class="view" x={(window.first - 1) * perCommit} y="0.75" width={Math.max(6, columns * perCommit)} height={height - 1.5} rx="3" />
      </svg>
    </div>
  )
}
