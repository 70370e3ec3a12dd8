/** The place of the drawing, with the same as a list: for screen readers, and where it cannot be laid out. */
import { useEffect, useState } from 'preact/hooks'
import type { Level, PlacedChart } from '../../../../src/actors/index.ts'
import { ChartDrawing } from '../chart/drawing.tsx'
import { layout } from '../chart/layout.ts'
import { useLasting, useMedia } from '../hooks.ts'
import type { HeatMap } from '../rules/heat.rules.ts'
import { nodeOf, type Staged, transitionOf } from '../rules/staged.rules.ts'
import type { Looks } from './stage.tsx'
import { Said } from './text.tsx'

type SlotProps = { staged: Staged; looks: Looks; heat: HeatMap | undefined }

export const ChartSlot = ({ staged, looks, heat }: SlotProps) => {
  const isNarrow = useMedia('(max-width: 720px)')
  const placed = usePlaced(staged, isNarrow ? 'overview' : looks.level)
  const takesLong = useLasting(placed === undefined, 600)
  return (
    <>
      {placed === undefined && takesLong && (
        <div class="hollow" role="status">
          <b>Laying out the chart</b>
        </div>
      )}
      {placed !== undefined && placed !== 'failed' && (
        <div class={`mood-${staged.mood}`}>
          <ChartDrawing
            chart={placed}
            active={staged.active}
            taken={staged.taken}
            possible={looks.possible ? staged.possible : undefined}
            candidates={staged.candidates}
            heat={heat}
          />
        </div>
      )}
      <ChartList staged={staged} isSeen={placed === 'failed'} />
    </>
  )
}

/** Undefined while it is laid out, which is done once for a machine. */
const usePlaced = ({ chart, signature }: Staged, level: Level): PlacedChart | 'failed' | undefined => {
  const [found, set] = useState<{ name: string; placed: PlacedChart | 'failed' }>()
  const name = `${signature} ${level}`
  useEffect(() => {
    let isWanted = true
    layout(signature, chart, level).then(
      (placed) => isWanted && set({ name, placed }),
      () => isWanted && set({ name, placed: 'failed' }),
    )
    return () => {
      isWanted = false
    }
  }, [chart, name])
  return found?.name === name ? found.placed : undefined
}

const nextMax = 40

/** Active states, the last transition, and the possible next ones. */
const ChartList = ({ staged: { chart, active, possible, lastWords }, isSeen }: { staged: Staged; isSeen: boolean }) => {
  const next = possible.slice(0, nextMax).flatMap((ref) => transitionOf(chart, ref) ?? [])
  const key = (id: string): string => (nodeOf(chart, id)?.id ?? id).replace(`${chart.id}.`, '')
  return (
    <div class={isSeen ? 'chart-list' : 'chart-list unseen'}>
      <h3>Active states</h3>
      <ul>
        {active
          .filter((id) => id !== chart.id)
          .map((id) => (
            <li key={id}>
              <Said text={key(id)} />
            </li>
          ))}
      </ul>
      {lastWords !== '' && (
        <p>
          Taken: <Said text={lastWords} />
        </p>
      )}
      <h3>Possible next</h3>
      <ul>
        {next.map((one, index) => (
          <li key={index}>
            <b>
              <Said text={one.event} />
            </b>
            {one.guard !== undefined && (
              <>
                {' '}
                if <Said text={one.guard} />
              </>
            )}{' '}
            {one.targets.length > 0 ? (
              <>
                → <Said text={one.targets.map(key).join(', ')} />
              </>
            ) : (
              'stays'
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
