/** The candidates in their order: who said no and why, and who said yes. */
import { useModel } from '../../hooks.ts'
import type { InspectorView } from '../../model.ts'
import { type Box, shortName } from '../../rules/actors.rules.ts'
import { microstepsOf } from '../../rules/staged.rules.ts'
import { decisionsOf, type Reason } from '../../rules/why.rules.ts'
import { Icon } from '../icons.tsx'
import { Said } from '../text.tsx'

/** Those that were not asked are evidence too; many of them would hide the rest. */
const openMax = 3

export const Why = ({ view, box }: { view: InspectorView; box: Box }) => {
  const { looked, charts, place } = view
  if (looked?.seq !== place.seq) return null
  const steps = microstepsOf(view, box.path)
  if (steps.length === 0) return <Elsewhere view={view} box={box} />
  const begun = looked.steps.steps.find((step) => step.type === 'actor' && step.path === box.path)
  const actor = looked.moment.actors.find(({ path }) => path === box.path)
  const signature = actor?.machine?.signature ?? (begun?.type === 'actor' ? begun.machine?.signature : undefined)
  const decisions = decisionsOf(steps, signature === undefined ? undefined : charts[signature]).filter(({ reasons }) => reasons.length > 0)
  if (decisions.length === 0) return null
  return (
    <section class="why">
      <h3>
        <span>Why this transition</span>
        {decisions.length > 1 && <span class="aside">{decisions.length} in this commit</span>}
      </h3>
      {decisions.map(({ event, reasons, unasked, before }, index) => (
        <div key={index} class="decision">
          {decisions.length > 1 && (
            <h4>
              <Said text={event} />
            </h4>
          )}
          {before > 0 && <p class="more">{before} before these said no</p>}
          <ul>
            {reasons.map((reason, at) => (
              <Row key={at} reason={reason} />
            ))}
          </ul>
          {unasked.length > 0 && (
            <details class="unasked" open={unasked.length <= openMax}>
              <summary>{unasked.length === 1 ? '1 after it was not asked' : `${unasked.length} after it were not asked`}</summary>
              <ul>
                {unasked.map((reason, at) => (
                  <Row key={at} reason={reason} />
                ))}
              </ul>
            </details>
          )}
        </div>
      ))}
    </section>
  )
}

const verdictWords: Record<Reason['verdict'], string> = {
  yes: 'said yes',
  no: 'said no',
  free: 'has no guard',
  unasked: 'was not asked',
  threw: 'threw',
}

const Row = ({ reason: { number, verdict, name, to, reads, error } }: { reason: Reason }) => {
  const isTaken = verdict === 'yes' || verdict === 'free'
  return (
    <li class={verdict}>
      <span class="sign" role="img" aria-label={verdictWords[verdict]}>
        {verdict === 'unasked' ? '·' : <Icon name={isTaken ? 'check' : 'cross'} />}
      </span>
      <span class="number">{number}</span>
      <b>
        <Said text={name} />
      </b>
      <span class="to">
        <Said text={to} />
      </span>
      {reads !== '' && (
        <span class="reads">
          <Said text={reads} />
        </span>
      )}
      {error !== undefined && (
        <span class="reads failed">
          threw: <Said text={error} />
        </span>
      )}
    </li>
  )
}

/** Nothing was decided here, but elsewhere in the tree. */
const Elsewhere = ({ view, box }: { view: InspectorView; box: Box }) => {
  const model = useModel()
  const paths = new Set(view.looked?.steps.steps.flatMap((step) => (step.type === 'microstep' && step.taken.length > 0 ? [step.path] : [])))
  return (
    <section class="why">
      <h3>Why this transition</h3>
      <p class="fine">
        <Said text={box.name} /> decided nothing in this commit.{' '}
        {paths.size > 0 && (
          <>
            Others did:{' '}
            {[...paths].map((path, index) => (
              <span key={path}>
                {index > 0 && ', '}
                <button type="button" class="link" title={path} onClick={() => model.choose(path)}>
                  <Said text={shortName(path, view.recorded)} />
                </button>
              </span>
            ))}
          </>
        )}
      </p>
    </section>
  )
}
