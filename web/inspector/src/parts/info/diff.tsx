/** What has changed of the chosen actor since the commit before, or since a pinned one; computed where somebody looks. */
import { useMemo } from 'preact/hooks'
import { useModel } from '../../hooks.ts'
import type { InspectorView } from '../../model.ts'
import type { Box } from '../../rules/actors.rules.ts'
import { differences, valueWords } from '../../rules/diff.rules.ts'
import { actorIn } from '../../rules/staged.rules.ts'
import { Said } from '../text.tsx'

const shownMax = 40
const signWords = { '+': 'new', '≠': 'changed', '−': 'gone' } as const

export const Diff = ({ view, box }: { view: InspectorView; box: Box }) => {
  const model = useModel()
  const { compares, seq, head } = view.place
  const pinned = typeof compares === 'number' ? compares : undefined
  const from = pinned ?? seq - 1
  return (
    <details
      class="diff"
      open={compares !== undefined}
      onToggle={(event) => {
        const { open } = event.currentTarget
        if (open !== (compares !== undefined)) model.compare(open ? 'before' : undefined)
      }}
    >
      <summary>
        <h3>
          Context, {from < 1 ? 'from nothing' : from} to {seq}
        </h3>
      </summary>
      {compares !== undefined && (
        <>
          <Changes view={view} box={box} from={from} />
          <p class="compare">
            {pinned === undefined ? (
              <button type="button" class="link" onClick={() => model.compare(seq)} disabled={head < 2}>
                pin this commit, to compare others with it
              </button>
            ) : (
              <>
                {pinned === seq
                  ? `Pinned: go to another commit to see what differs from ${pinned}. `
                  : `Compared with commit ${pinned}, which is pinned. `}
                <button type="button" class="link" onClick={() => model.compare('before')}>
                  compare with the commit before instead
                </button>
              </>
            )}
          </p>
        </>
      )}
    </details>
  )
}

const Changes = ({ view, box, from }: { view: InspectorView; box: Box; from: number }) => {
  const { looked, place } = view
  const before = from < 1 ? undefined : looked?.before?.seq === from ? looked.before : undefined
  const isReady = looked?.seq === place.seq && (from < 1 || before !== undefined)
  const found = useMemo(() => {
    if (!isReady) return undefined
    const then = before?.actors.find(({ path }) => path === box.path)
    const now = actorIn(view, box)
    return differences(partsOf(then), partsOf(now), shownMax)
  }, [isReady, looked, before, box.path])
  if (!found) return <p class="fine">Folding…</p>
  if (found.length === 0) return <p class="fine">Nothing has changed in it.</p>
  return (
    <ul class="changes">
      {found.slice(0, shownMax).map(({ sign, path, before: old, after }) => (
        <li key={`${sign}${path}`}>
          <span class="sign" role="img" aria-label={signWords[sign]}>
            {sign}
          </span>
          <b>
            <Said text={path} />
          </b>
          <span>
            {sign !== '+' && (
              <>
                <s>
                  <Said text={valueWords(old)} />
                </s>{' '}
              </>
            )}
            {sign !== '−' && (
              <ins>
                <Said text={valueWords(after)} />
              </ins>
            )}
          </span>
        </li>
      ))}
      {found.length > shownMax && <li class="more">and more</li>}
    </ul>
  )
}

type Parts = { context: unknown; input: unknown; output: unknown; error: unknown }
const partsOf = (actor: Parts | undefined): unknown => {
  if (!actor) return {}
  const { context, output, error, input } = actor
  // What its machine holds, without a name before it; everything else by its name.
  return typeof context === 'object' && context !== null
    ? { ...context, ...(output === undefined ? {} : { '(output)': output }), ...(error === undefined ? {} : { '(error)': error }) }
    : { input, output, error }
}
