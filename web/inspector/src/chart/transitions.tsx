/** All transitions behind one chip, in the order in which they are tried, with what their guards have said. */
import type { DrawnTransition } from '../../../../src/actors/index.ts'
import type { Candidate } from '../../../../src/contracts/inspection.ts'
import { Said } from '../parts/text.tsx'
import { refName, verdictSign } from './refs.rules.ts'

type Props = { transitions: readonly DrawnTransition[]; x: number; y: number; candidates: readonly Candidate[]; onClose(): void }

export const Transitions = ({ transitions, x, y, candidates, onClose }: Props) => (
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
