/** Why it went this way and not that: what was asked, in order, what it looked at, and what it said. */
import type { Step } from '../../../../src/contracts/inspection.ts'
import { refName, verdictSign } from '../rules/refs.rules.ts'
import { jsonText } from '../rules/text.rules.ts'
import { Text } from './text.tsx'

type Decision = Extract<Step, { type: 'microstep' }>

export const Why = ({ steps, path }: { steps: readonly Step[]; path: string }) => {
  const decisions = steps.filter((step): step is Decision => step.type === 'microstep' && step.path === path && step.candidates.length > 0)
  if (decisions.length === 0) return null
  return (
    <section>
      <h2>Why</h2>
      {decisions.map((decision, index) => (
        <div key={`${index} ${decision.event.type}`} class="why">
          <p class="mono fine">
            on <Text>{decision.taken[0]?.eventType === '' ? 'always' : decision.event.type}</Text>
          </p>
          <ol>
            {decision.candidates
              .filter(({ verdict }) => verdict !== 'unasked')
              .map((candidate) => (
                <li key={refName(candidate)} class={candidate.verdict}>
                  <span class="sign">
                    <span aria-hidden="true">{verdictSign(candidate)}</span>
                    <span class="unseen">{candidate.verdict}</span>
                  </span>
                  <span class="mono">
                    <Text>{candidate.guard ?? (candidate.eventType || 'always')}</Text>
                    <span class="fine">
                      {' '}
                      <Text>{candidate.source}</Text>
                    </span>
                    {(candidate.reads ?? []).map(({ path: place, value }) => (
                      <span key={place} class="read">
                        <Text>{value === undefined ? `${place} is not set` : `${place} = ${jsonText(value).slice(0, 200)}`}</Text>
                      </span>
                    ))}
                    {candidate.error !== undefined && (
                      <span class="read fail">
                        <Text>{candidate.error}</Text>
                      </span>
                    )}
                  </span>
                </li>
              ))}
          </ol>
          <Unasked count={decision.candidates.filter(({ verdict }) => verdict === 'unasked').length} />
        </div>
      ))}
    </section>
  )
}

const Unasked = ({ count }: { count: number }) => (count === 0 ? null : <p class="fine">{count} not asked</p>)
