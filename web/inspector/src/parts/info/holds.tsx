/** All that the chosen actor holds at this moment. */
import { useState } from 'preact/hooks'
import type { InspectorView } from '../../model.ts'
import type { Box } from '../../rules/actors.rules.ts'
import { clockWords } from '../../rules/ruler.rules.ts'
import { actorIn } from '../../rules/staged.rules.ts'
import { Said } from '../text.tsx'
import { Value } from './value.tsx'

export const Holds = ({ view, box }: { view: InspectorView; box: Box }) => {
  const [open, set] = useState(false)
  const actor = actorIn(view, box)
  if (!actor) return null
  const { kind, context, input, output, error } = actor
  const timers = view.looked?.moment.timers.filter(({ to }) => to === actor.path) ?? []
  return (
    <details open={open} onToggle={(event) => set(event.currentTarget.open)}>
      <summary>
        <h3>
          <span>
            {kind === 'machine' ? 'Context' : 'Input'} of <Said text={box.name} />
          </span>
        </h3>
      </summary>
      {open && (
        <>
          {timers.map(({ timer, event, due }) => (
            <p key={timer} class="fine">
              waits until {clockWords(due)} for <Said text={event} />
            </p>
          ))}
          <Value value={kind === 'machine' ? context : input} seq={view.place.seq} />
          {output !== undefined && (
            <>
              <h4>Output</h4>
              <Value value={output} seq={view.place.seq} />
            </>
          )}
          {error !== undefined && (
            <>
              <h4>Error</h4>
              <Value value={error} seq={view.place.seq} />
            </>
          )}
        </>
      )}
    </details>
  )
}
