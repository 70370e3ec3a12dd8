/** A person is asked about a tool call. No letter and no Enter elsewhere answers it. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { silenceText } from '../../../../src/contracts/approval.rules.ts'
import { errorOf, isComposing, useModel, useNow } from '../hooks.ts'
import type { AskBlock, Decision, ErrorBody } from '../model.ts'
import { clockOf, rowsOf } from '../rules/format.rules.ts'
import { Refusal } from './problem.tsx'

export const Ask = ({ ask }: { ask: AskBlock }) => {
  const { approval, decided } = ask
  return decided ? (
    <p class="decided">
      <code>{approval.name}</code> was {decided.decision === 'approve' ? 'allowed' : 'denied'}
      {decided.remember ? ' for this conversation' : ''}
      {decided.by && decided.by !== 'timeout' ? (decided.by === 'web' ? ' in the web chat' : ` by ${decided.by}`) : ''}
      {decided.at === undefined ? '' : ` at ${clockOf(decided.at)}`}
      {decided.by === 'timeout' ? ': nobody answered in time' : ''}
    </p>
  ) : (
    <Question ask={ask} />
  )
}

const Question = ({ ask }: { ask: AskBlock }) => {
  const model = useModel()
  const title = useId()
  const [denying, deny] = useState(false)
  const [error, fail] = useState<Partial<ErrorBody> & { message: string }>()
  const { approval, since } = ask
  const inDoubt = approval.why === 'in_doubt'
  const busy = ask.deciding !== undefined
  const decide = (decision: Decision, note?: string, remember?: 'session') => {
    fail(undefined)
    model.decide(approval, decision, note || undefined, remember).catch((reason: unknown) => fail(errorOf(reason)))
  }
  return (
    <section class={inDoubt ? 'ask doubt' : 'ask'} aria-labelledby={title} data-ask={approval.callId}>
      <div class="question">
        <h3 id={title}>
          {inDoubt ? (
            <>
              Did <code>{approval.name}</code> run? It is not known.
            </>
          ) : (
            <>
              Allow <code>{approval.name}</code> to run?
            </>
          )}
        </h3>
        <p>
          {inDoubt
            ? 'The process stopped while it was running. It waits for you, so that it does not run twice by accident.'
            : `Waiting for you${since === undefined ? '' : ` since ${clockOf(since)}`}.`}
          <Silence approval={approval} />
          {!inDoubt && (
            <>
              {' '}
              “Always” holds for every call of <code>{approval.name}</code> here, until the conversation begins anew.
            </>
          )}
        </p>
      </div>
      <div class="body">
        <Arguments input={approval.input} />
        {error && <Refusal error={error} />}
        {denying ? (
          <Why busy={busy} onDeny={(note) => decide('deny', note)} onBack={() => deny(false)} inDoubt={inDoubt} />
        ) : (
          <div class="row">
            <button type="button" class={inDoubt ? 'button' : 'button primary'} disabled={busy} onClick={() => decide('approve')}>
              {ask.deciding === 'approve' ? 'Allowing…' : inDoubt ? 'Run it again' : 'Allow once'}
            </button>
            {!inDoubt && (
              <button type="button" class="button" disabled={busy} onClick={() => decide('approve', undefined, 'session')}>
                Always in this conversation
              </button>
            )}
            <button type="button" class={inDoubt ? 'button' : 'button quiet'} disabled={busy} onClick={() => deny(true)}>
              {inDoubt ? 'Do not repeat it…' : 'Deny…'}
            </button>
          </div>
        )}
      </div>
    </section>
  )
}

/** The outcome without an answer, counted down; undefined for a call without a deadline. */
const Silence = ({ approval }: { approval: AskBlock['approval'] }) => {
  const now = useNow(1000, approval.deadline !== undefined)
  const silence = silenceText(approval, now)
  return silence === undefined ? null : <strong class="silence"> Without your answer: {silence}.</strong>
}

/** All of them, one a row, never cut. */
const Arguments = ({ input }: { input: unknown }) => {
  const rows = rowsOf(input)
  if (rows.length === 0) return <p class="fine">It is called without arguments.</p>
  return (
    <dl class="arguments" tabIndex={0}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

type WhyProps = { busy: boolean; inDoubt: boolean; onDeny(note: string): void; onBack(): void }

const Why = ({ busy, inDoubt, onDeny, onBack }: WhyProps) => {
  const [note, write] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  // It was asked for by a press of a button that has gone, and the next key is meant for it.
  useLayoutEffect(() => field.current?.focus(), [])
  return (
    <>
      <div class="field">
        <label for={id}>{inDoubt ? 'What is known of it? The agent reads this.' : 'Why not? The agent reads this.'}</label>
        <textarea
          id={id}
          ref={field}
          value={note}
          maxLength={2000}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && !isComposing(event)) onBack()
          }}
        />
      </div>
      <div class="row">
        <button type="button" class="button solid" disabled={busy} onClick={() => onDeny(note.trim())}>
          {busy ? 'Denying…' : inDoubt ? 'Do not repeat it' : 'Deny'}
        </button>
        <button type="button" class="button quiet" disabled={busy} onClick={onBack}>
          Back
        </button>
      </div>
    </>
  )
}
