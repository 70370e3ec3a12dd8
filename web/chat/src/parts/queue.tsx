/** What was said while it runs and has not been taken in yet. */
import { useEffect, useState } from 'preact/hooks'
import { errorOf, useModel } from '../hooks.ts'
import type { SendMode, Waiting } from '../model.ts'
import { Icon } from './icons.tsx'
import { titleOf } from './problem.tsx'

/** @property onBack is given the text of a message that was withdrawn */
type QueueProps = { waiting: readonly Waiting[]; onBack(text: string): void }

export const Queue = ({ waiting, onBack }: QueueProps) => {
  const model = useModel()
  const [said, say] = useState<string>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => say(undefined), 6000)
    return () => clearTimeout(timer)
  }, [said])
  const withdraw = async ({ id, text, files }: Waiting, then?: SendMode) => {
    try {
      const came = await model.withdraw(id)
      if (came === 'too-late') say('Too late, it was taken in already')
      else if (then) await model.send(text, { mode: then, ...(files && { files }) })
      else {
        onBack(text)
        say('Withdrawn, its text is in the field again')
      }
    } catch (reason) {
      say(titleOf(errorOf(reason)))
    }
  }
  if (waiting.length === 0 && said === undefined) return null
  return (
    <div class="queue">
      {waiting.length > 0 && (
        <ul aria-label="Waiting messages">
          {waiting.map((one) => (
            <li key={one.id}>
              <span class="how">
                <Icon name={one.mode === 'steer' ? 'join' : 'queue'} />
                <span>{one.mode === 'steer' ? 'Joins next' : 'After this'}</span>
              </span>
              <span class="what">{[one.text, ...(one.files ?? []).map(({ fileName }) => `[${fileName}]`)].filter(Boolean).join(' ')}</span>
              {one.mode === 'followup' && (
                <button type="button" class="button quiet" disabled={one.withdrawing} onClick={() => void withdraw(one, 'steer')}>
                  Send now
                </button>
              )}
              <button type="button" class="button quiet" disabled={one.withdrawing} onClick={() => void withdraw(one)}>
                {one.withdrawing ? 'Withdrawing…' : 'Withdraw'}
              </button>
            </li>
          ))}
        </ul>
      )}
      <p role="status" class={said === undefined ? 'unseen' : 'came'}>
        {said}
      </p>
    </div>
  )
}
