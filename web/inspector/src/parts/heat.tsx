/** How often what is shown was gone through by all that is recorded: asked for when somebody wants it. */
import { useEffect, useMemo } from 'preact/hooks'
import { useModel } from '../hooks.ts'
import type { Covered } from '../model.ts'
import { type HeatMap, heatMap } from '../rules/heat.rules.ts'
import { Said } from './text.tsx'

export const useHeat = (coverage: Covered | undefined, signature: string | undefined, isWanted: boolean): HeatMap | undefined => {
  const model = useModel()
  const isAsked = signature === undefined || coverage !== undefined
  useEffect(() => {
    if (isWanted && !isAsked) model.cover()
  }, [isWanted, isAsked])
  const found = coverage?.state === 'known' ? coverage.machines.find(({ machine }) => machine.signature === signature) : undefined
  return useMemo(() => (isWanted && found ? heatMap(found) : undefined), [isWanted, found])
}

export const HeatWords = ({ coverage, heat }: { coverage: Covered | undefined; heat: HeatMap | undefined }) => {
  const model = useModel()
  return (
    <p class="heat-words" role="status">
      {coverage?.state === 'failed' ? (
        <span class="failed">
          <Said text={`The coverage cannot be read: ${coverage.error.message}`} />
        </span>
      ) : coverage?.state !== 'known' ? (
        `Folding what is recorded: ${coverage?.sessions ?? 0} so far`
      ) : heat ? (
        <>
          <span class="heat-key">
            <i class="heat-0" /> never <i class="heat-1" /> 1–2 <i class="heat-2" /> 3–29 <i class="heat-3" /> 30–299 <i class="heat-4" /> 300 and
            more
          </span>{' '}
          in {heat.sessions} {heat.sessions === 1 ? 'actor' : 'actors'}. A chip says which.{' '}
          <button type="button" class="link" onClick={() => model.cover()}>
            Read again
          </button>
        </>
      ) : (
        'Nothing that is recorded has gone through this machine.'
      )}
    </p>
  )
}
