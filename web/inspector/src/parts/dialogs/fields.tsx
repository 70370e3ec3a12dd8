/** What both forks ask for. */

import { useState } from 'preact/hooks'
import { messageOf } from '../../../../../src/contracts/errors.ts'
import { useModel } from '../../hooks.ts'
import type { ForkWish } from '../../model.ts'
import { Said } from '../text.tsx'

export type Answers = ForkWish['answers']

/** Makes the fork and opens it. */
export const useFork = (onClose: () => void) => {
  const model = useModel()
  const [busy, set] = useState(false)
  const [error, fail] = useState<string>()
  const fork = (wish: ForkWish): void => {
    set(true)
    fail(undefined)
    model.fork(wish).then(
      (key) => {
        onClose()
        model.open({ kind: model.view().subject?.kind ?? 'session', id: key })
      },
      (reason: unknown) => {
        set(false)
        fail(messageOf(reason))
      },
    )
  }
  return { fork, busy, error }
}

export const KeyField = ({ value, onInput }: { value: string; onInput(value: string): void }) => (
  <label class="field">
    <span>Key of the fork</span>
    <input
      type="text"
      class="mono"
      value={value}
      required
      maxLength={500}
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
)

const answerWords: [Answers, string, string][] = [
  ['recorded', 'Effects answer from the record', 'Where models and tools are asked the same, nothing is paid or done again.'],
  ['live', 'Effects run', 'Models are asked and tools run from here on.'],
]

export const AnswersField = ({ value, onChange }: { value: Answers; onChange(value: Answers): void }) => (
  <fieldset>
    <legend class="unseen">Effects</legend>
    {answerWords.map(([name, label, more]) => (
      <label key={name} class="choice">
        <input type="radio" name="answers" checked={value === name} onChange={() => onChange(name)} />
        <span>
          {label}
          <small>{more}</small>
        </span>
      </label>
    ))}
  </fieldset>
)

type FooterProps = { busy: boolean; error: string | undefined; label: string; onClose(): void }

export const Footer = ({ busy, error, label, onClose }: FooterProps) => (
  <>
    {error !== undefined && (
      <p class="failed" role="alert">
        <Said text={error} />
      </p>
    )}
    <footer>
      <button type="button" class="button quiet" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" class="button primary" disabled={busy}>
        {label}
      </button>
    </footer>
  </>
)
