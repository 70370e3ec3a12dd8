/** What was said beside the conversation: it stands apart from it, is kept nowhere, and goes when somebody takes it away. */
import { useModel } from '../hooks.ts'
import type { Aside } from '../model.ts'
import { Icon, Sign } from './icons.tsx'
import { Prose } from './prose.tsx'

export const Asides = ({ asides }: { asides: readonly Aside[] }) => (
  <>
    {asides.length > 0 && (
      <section class="asides" aria-label="Beside the conversation">
        {asides.map((aside) => (
          <AsideCard key={aside.id} aside={aside} />
        ))}
      </section>
    )}
    <p role="status" class="unseen">
      {said(asides.at(-1))}
    </p>
  </>
)

const said = (newest: Aside | undefined): string => {
  if (newest === undefined) return ''
  if (newest.state === 'asked') return 'Asking beside the conversation'
  return newest.state === 'told' ? 'There is an answer beside the conversation' : 'The side question was not answered'
}

const AsideCard = ({ aside: { id, question, text = '', state } }: { aside: Aside }) => {
  const model = useModel()
  return (
    <article class="aside-card" data-aside={state}>
      <header>
        <Sign name="aside" tone={state === 'failed' ? 'fail' : ''} />
        <h2>{question ?? 'Found on the way'}</h2>
        <button
          type="button"
          class="button quiet"
          aria-label={`Dismiss: ${question ?? 'what was found on the way'}`}
          onClick={() => model.dismissAside(id)}
        >
          <Icon name="cross" />
        </button>
      </header>
      {state === 'asked' ? (
        <p class="fine">Answering beside the conversation…</p>
      ) : state === 'failed' ? (
        <p class="wrong">{text}</p>
      ) : (
        <Prose text={text} live={false} />
      )}
      <p class="fine">Not part of the conversation, and not kept.</p>
    </article>
  )
}
