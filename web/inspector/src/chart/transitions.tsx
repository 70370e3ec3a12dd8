/** All transitions behind one chip, in the order in which they are tried, with what their guards have said. */
import type { DrawnTransition } from '../../../../src/actors/index.ts'
import type { Candidate } from '../../../../src/contracts/inspection.ts'
import { parseAddress } from '../../../../src/contracts/subjects.ts'
import { useModel } from '../hooks.ts'
import { Said } from '../parts/text.tsx'
import type { HeatMap, Warmth } from '../rules/heat.rules.ts'
import { refName, verdictSign } from './refs.rules.ts'

type Props = {
  transitions: readonly DrawnTransition[]
  x: number
  y: number
  candidates: readonly Candidate[]
  heat: HeatMap | undefined
  onClose(): void
}

export const Transitions = ({ transitions, x, y, candidates, heat, onClose }: Props) => (
  <div class="popover" role="dialog" aria-label="Transitions" style={{ left: `${x}px`, top: `${y + 4}px` }}>
    <ul>
      {transitions.map((one) => {
        const candidate = candidates.find((asked) => refName(asked) === refName(one.ref))
        return (
          <li key={refName(one.ref)}>
            <span class="mono">{candidate ? verdictSign(candidate) : (one.order ?? '·')}</span>
            <span>
              <b class="mono">
                <Said text={`${one.event}${one.guard === undefined ? '' : ` [${one.guard}]`}`} />
              </b>{' '}
              <span class="fine">
                <Said
                  text={`${one.targets.length > 0 ? `→ ${one.targets.join(', ')}` : 'stays'}${one.actions.length > 0 ? ` / ${one.actions.join(', ')}` : ''}`}
                />
              </span>
              {heat && <Taken warmth={heat.transitions([one.ref])} />}
              {one.description !== undefined && (
                <p class="fine">
                  <Said text={one.description} />
                </p>
              )}
            </span>
          </li>
        )
      })}
    </ul>
    <button type="button" class="link" onClick={onClose}>
      Close
    </button>
  </div>
)

/** By which it was taken: the rare ones are worth a look. */
const Taken = ({ warmth: { count, sessions } }: { warmth: Warmth }) => {
  const model = useModel()
  return (
    <p class="fine">
      {count === 0 ? 'never taken' : `taken ${count === 1 ? 'once' : `${count} times`}, by `}
      {sessions.map((session, index) => (
        <span key={session}>
          {index > 0 && ', '}
          <button type="button" class="link" onClick={() => model.open(parseAddress(session))}>
            <Said text={parseAddress(session).id} />
          </button>
        </span>
      ))}
    </p>
  )
}
