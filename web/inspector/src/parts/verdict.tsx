/** Whether the journal, folded again by the node, leads to what was recorded. */
import { useModel } from '../hooks.ts'
import type { InspectorView } from '../model.ts'
import { Icon } from './icons.tsx'
import { Said } from './text.tsx'

export const VerdictWords = ({ view: { verdict, place } }: { view: InspectorView }) => {
  const model = useModel()
  if (verdict === undefined || verdict.state === 'failed')
    return (
      <button
        type="button"
        class="verdict"
        title={verdict ? verdict.error.message : 'Fold the journal again and compare every state with what was recorded'}
        onClick={() => model.replay()}
      >
        <Icon name={verdict ? 'cross' : 'again'} />
        <span>{verdict ? 'cannot be replayed' : 'replay'}</span>
      </button>
    )
  if (verdict.state === 'asking')
    return (
      <span class="verdict">
        <span>replaying…</span>
      </span>
    )
  const { replayed } = verdict
  const isSame = replayed.verdict === 'identical'
  return (
    <button
      type="button"
      class={isSame ? 'verdict' : 'verdict differs'}
      title="Folded again by the node with the charts of its build; press to do it again"
      onClick={() => (isSame || !replayed.difference ? model.replay() : model.seek(replayed.difference.seq))}
    >
      <Icon name={isSame ? 'check' : 'cross'} />
      <span>{isSame ? 'replay identical' : `differs at ${replayed.difference?.seq ?? '?'}`}</span>
      <i class="num">
        {replayed.commits} of {place.head}
      </i>
    </button>
  )
}

export const VerdictSection = ({ view: { verdict, origin } }: { view: InspectorView }) => {
  const model = useModel()
  return (
    <section class="replay">
      <h3>
        <span>Replay</span>
        <button type="button" class="link aside" onClick={() => model.replay()}>
          {verdict ? 'again' : 'compare every state'}
        </button>
      </h3>
      <p class="fine">
        {verdict === undefined && 'Not replayed yet: whether this build decides the same, commit by commit. '}
        {verdict?.state === 'asking' && 'The node folds it again… '}
        {verdict?.state === 'failed' && (
          <span class="failed">
            <Said text={`${verdict.error.code}: ${verdict.error.message}`} />{' '}
          </span>
        )}
        {verdict?.state === 'said' &&
          verdict.replayed.verdict === 'identical' &&
          `Folded again with this build: commits 1 to ${verdict.replayed.commits} identical. `}
        {verdict?.state === 'said' && verdict.replayed.difference && (
          <span class="failed">
            From {verdict.replayed.difference.seq} on this build decides otherwise than was recorded:{' '}
            <Said text={verdict.replayed.difference.path ?? '/'} />, recorded{' '}
            <Said text={JSON.stringify(verdict.replayed.difference.recorded) ?? 'nothing'} />, now{' '}
            <Said text={JSON.stringify(verdict.replayed.difference.replayed) ?? 'nothing'} />. Shown as recorded.{' '}
          </span>
        )}
        {origin && (
          <>
            Written by <Said text={origin.machine} />, signature <span class="mono">{origin.signature.slice(0, 8)}</span>
            {origin.local ? ', folded in this page.' : ', folded by the node, which has that machine.'}
          </>
        )}
      </p>
    </section>
  )
}
