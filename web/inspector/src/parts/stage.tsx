/** The chart of the chosen actor at this moment. */
import type { InspectorView } from '../model.ts'
import type { Box } from '../rules/actors.rules.ts'
import { stagedOf } from '../rules/staged.rules.ts'
import { ChartSlot } from './chart-slot.tsx'
import { HeatWords, useHeat } from './heat.tsx'
import { Hollow } from './hollow.tsx'
import { Icon } from './icons.tsx'
import { Said } from './text.tsx'

export type Looks = { level: 'overview' | 'labels'; possible: boolean; whole: boolean; heat: boolean }

type StageProps = { view: InspectorView; box: Box | undefined; looks: Looks; onLooks(changes: Partial<Looks>): void }

export const Stage = ({ view, box, looks, onLooks }: StageProps) => {
  const staged = stagedOf(view, box)
  const heat = useHeat(view.coverage, staged?.signature, looks.heat)
  return (
    <section class="stage" aria-label="Statechart">
      {box && (
        <div class="bar">
          <h2>
            <Said text={box.name} />
          </h2>
          <span class={`pill ${box.mood}`}>
            <Said text={box.state} />
          </span>
          <span class="last-taken">{staged?.lastWords && <Said text={staged.lastWords} />}</span>
          <fieldset class="segments" aria-label="Level">
            {(['overview', 'labels'] as const).map((level) => (
              <button key={level} type="button" aria-pressed={looks.level === level} onClick={() => onLooks({ level })}>
                {level === 'overview' ? 'Overview' : 'Labels'}
              </button>
            ))}
          </fieldset>
          <button
            type="button"
            class="toggle toggle-possible"
            aria-pressed={looks.possible}
            title="Dim what is not possible now (D)"
            onClick={() => onLooks({ possible: !looks.possible })}
          >
            Possible now
          </button>
          <button
            type="button"
            class="toggle toggle-heat"
            aria-pressed={looks.heat}
            title="How often each part was gone through by all that is recorded (H)"
            onClick={() => onLooks({ heat: !looks.heat })}
          >
            Coverage
          </button>
          <button
            type="button"
            class="icon toggle-whole"
            aria-pressed={looks.whole}
            aria-label="Chart over the whole page"
            title="Chart over the whole page (Z)"
            onClick={() => onLooks({ whole: !looks.whole })}
          >
            <Icon name="whole" />
          </button>
        </div>
      )}
      {looks.heat && <HeatWords coverage={view.coverage} heat={heat} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and not everybody has a mouse */}
      <div class="canvas" tabIndex={0}>
        {staged ? <ChartSlot staged={staged} looks={looks} heat={heat} /> : <Hollow view={view} box={box} />}
      </div>
    </section>
  )
}
