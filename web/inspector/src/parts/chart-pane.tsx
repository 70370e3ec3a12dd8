/** The statechart of the actor that is looked at, with what is active, what was taken, and what is possible. */
import { useEffect, useState } from 'preact/hooks'
import type { Level, PlacedChart } from '../../../../src/actors/index.ts'
import type { ActorAt, Step, TransitionRef } from '../../../../src/contracts/inspection.ts'
import { layout } from '../layout.ts'
import type { Opened } from '../model.ts'
import { stateText } from '../rules/lanes.rules.ts'
import { actorName } from './actors.tsx'
import { ChartDrawing } from './chart.tsx'
import { Text } from './text.tsx'

const takenBy = (steps: readonly Step[], path: string): TransitionRef[] =>
  steps.flatMap((step) => (step.type === 'microstep' && step.path === path ? step.taken : []))

export const ChartPane = ({ opened }: { opened: Opened }) => {
  const [level, setLevel] = useState<Level>('overview')
  const [dim, setDim] = useState(false)
  const { look, actor: path, charts, kind } = opened
  const actors = look?.moment.actors ?? []
  const before = look?.before?.actors ?? []
  // One that has ended in this commit is shown as it was.
  const actor = actors.find((one) => one.path === path) ?? before.find((one) => one.path === path) ?? actors[0]
  const drawn = actor?.kind === 'effect' ? actors.find((one) => one.path === actor.parent) : actor
  const placed = usePlaced(drawn, charts, level)
  const taken = look && drawn ? takenBy(look.steps.steps, drawn.path) : []
  const possible = (drawn && look?.moment.possible[drawn.path]) ?? []
  return (
    <section class="chart" aria-label="Statechart">
      <header>
        <b>
          <Text>{actor ? actorName(actor, kind) : ''}</Text>
        </b>
        <span class="mono state bare">
          <Text>{actor ? stateText(actor.value) : ''}</Text>
        </span>
        <span class="mono taken">
          <Text>{taken.map(({ eventType }) => eventType || 'always').join(', then ')}</Text>
        </span>
        <span class="grow" />
        <span class="segments">
          {(['overview', 'labels'] as const).map((one) => (
            <label key={one}>
              <input type="radio" name="level" checked={level === one} onChange={() => setLevel(one)} />
              {one === 'overview' ? 'Overview' : 'Labels'}
            </label>
          ))}
        </span>
        <button type="button" class="button" aria-pressed={dim} onClick={() => setDim(!dim)}>
          Possible now
        </button>
      </header>
      <div class="canvas">
        {drawn?.machine && placed === undefined && <p class="fine laying">Laying out the chart …</p>}
        {placed === 'failed' && drawn && <States actor={drawn} />}
        {placed && placed !== 'failed' && drawn && (
          <ChartDrawing
            chart={placed}
            active={drawn.active}
            taken={taken}
            possible={dim ? possible : undefined}
            candidates={candidatesOf(opened, drawn.path)}
          />
        )}
      </div>
    </section>
  )
}

const candidatesOf = ({ look }: Opened, path: string) =>
  (look?.steps.steps ?? []).flatMap((step) => (step.type === 'microstep' && step.path === path ? step.candidates : []))

/** What stands in for a chart that cannot be laid out. */
const States = ({ actor }: { actor: ActorAt }) => (
  <ul class="fine">
    {actor.active.map((id) => (
      <li key={id} class="mono">
        <Text>{id}</Text>
      </li>
    ))}
  </ul>
)

const usePlaced = (actor: ActorAt | undefined, charts: Opened['charts'], level: Level): PlacedChart | 'failed' | undefined => {
  const [found, setFound] = useState<{ name: string; placed: PlacedChart | 'failed' }>()
  const signature = actor?.machine?.signature
  const chart = signature === undefined ? undefined : charts[signature]
  const name = `${signature} ${level}`
  useEffect(() => {
    if (!chart || signature === undefined) return
    let wanted = true
    layout(signature, chart, level).then(
      (placed) => wanted && setFound({ name, placed }),
      () => wanted && setFound({ name, placed: 'failed' }),
    )
    return () => {
      wanted = false
    }
  }, [chart, name])
  return found?.name === name ? found.placed : undefined
}
