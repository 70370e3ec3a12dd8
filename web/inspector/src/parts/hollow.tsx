/** What stands in the place of a chart where there is none, and why. */
import type { InspectorView } from '../model.ts'
import type { Box } from '../rules/actors.rules.ts'

export const Hollow = ({ view, box }: { view: InspectorView; box: Box | undefined }) => {
  const { connection, list, others, subject, place, recorded, looked } = view
  if (!subject) {
    if (connection.state === 'refused') return null
    if (list === undefined) return <Lines title={connection.state === 'connected' ? 'Reading the list' : 'Connecting'} />
    if (list.length === 0 && others !== undefined && others.length > 0)
      return (
        <Lines title="Nothing is open">
          <span>There is no session. Choose one of the other actors in the list.</span>
        </Lines>
      )
    if (list.length === 0)
      return (
        <Lines title="No session yet">
          <span>Send the first message and watch it arrive here.</span>
          <code>npx statecast send main "hello"</code>
        </Lines>
      )
    return (
      <Lines title="Nothing is open">
        <span>Choose a session in the list.</span>
      </Lines>
    )
  }
  if (place.head === 0) return place.unreadable || place.corrupt ? null : <Lines title="Reading the journal" busy />
  if (place.catchingUp && place.seq > place.head)
    return <Lines title={`Reading ${place.head.toLocaleString('en-GB').replaceAll(',', ' ')} commits`} busy />
  if (looked === undefined && !place.error)
    return (
      <Lines
        title={`Folding ${recorded.rows.length.toLocaleString('en-GB').replaceAll(',', ' ')} commits`}
        busy={view.folding ? view.folding.applied / Math.max(1, place.seq) : true}
      >
        <span>
          {view.folding?.applied ? `${Math.min(view.folding.applied, place.seq)} of ${place.seq} applied` : 'its states are in the timeline already'}
        </span>
      </Lines>
    )
  if (box && !box.isThere)
    return (
      <Lines title={`${box.name} ${box.state === 'ended' ? 'has ended by' : 'has not begun at'} ${place.seq}`}>
        <span>Go along the timeline to where it lives.</span>
      </Lines>
    )
  return (
    <Lines title="No chart">
      <span>{box ? 'An effect has no states: what it was given and what it said stands in the details.' : 'This actor is not known.'}</span>
    </Lines>
  )
}

const Lines = ({ title, busy, children }: { title: string; busy?: boolean | number; children?: preact.ComponentChildren }) => (
  <div class="hollow" role={busy === undefined ? undefined : 'status'}>
    <b>{title}</b>
    {children}
    {busy !== undefined && busy !== false && <progress max={1} value={typeof busy === 'number' ? Math.min(1, busy) : undefined} aria-label={title} />}
  </div>
)
