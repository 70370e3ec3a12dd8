/** What went wrong: what happened, what is kept, what to do; its code small at the right. */
import type { ComponentChildren } from 'preact'
import type { ErrorBody } from '../model.ts'

type Shown = Partial<ErrorBody> & { message: string }

/** By code, the title and, where the runtime's own words do not say it, what follows from it. */
const known: Partial<Record<ErrorBody['code'], { title: string; text?: string }>> = {
  provider_timeout: { title: 'The model did not answer in time', text: 'What you said is kept. Try again goes on from there.' },
  provider_auth: { title: 'The provider refused the key', text: 'Set another key, then try again.' },
  provider_rate_limit: { title: 'The provider asks to slow down', text: 'What you said is kept. Wait a little, then try again.' },
  provider_overflow: { title: 'This conversation is too long for the model' },
  provider_unavailable: { title: 'The provider cannot be reached', text: 'What you said is kept.' },
  budget_time: { title: 'The turn used all its time', text: 'What was said is kept. Go on takes it up.' },
  budget_steps: { title: 'The turn used all its steps', text: 'What was said is kept. Go on takes it up.' },
  unauthorised: { title: 'This page has no valid token', text: 'Open the address that statecast up printed. What you typed is kept.' },
  overloaded: { title: 'Too much is waiting already' },
  too_large: { title: 'That is too large' },
}

/** What follows from it, where the page knows that better than the runtime. */
export const textOf = ({ code, hint }: Shown): string | undefined => (code === 'unauthorised' ? known.unauthorised?.text : undefined) ?? hint

export const titleOf = ({ code, message }: Shown): string => (code && known[code]?.title) || message

export const Problem = ({ error, children }: { error: Shown; children?: ComponentChildren }) => {
  const title = titleOf(error)
  const text = [
    title === error.message ? undefined : `${error.message.replace(/[.!?]?$/, '.')}`,
    error.hint ?? (error.code && known[error.code]?.text),
  ]
  return (
    <section class="problem" aria-label={title}>
      <h3>{title}</h3>
      {text.filter(Boolean).map((line) => (
        <p key={line}>{line}</p>
      ))}
      <div class="row">
        {children}
        {error.code && <span class="fine mono code-name">{error.code}</span>}
      </div>
    </section>
  )
}

/** The same in a line or two, at the place of what was refused. */
export const Refusal = ({ error }: { error: Shown }) => (
  <p class="refusal" role="alert">
    <b>{titleOf(error)}.</b> {error.hint ?? (titleOf(error) === error.message ? '' : error.message)}
    {error.code && <span class="fine mono"> {error.code}</span>}
  </p>
)
