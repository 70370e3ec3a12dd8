/** All conversations of the node, those that need somebody at hand. */
import { useState } from 'preact/hooks'
import { whenOf } from '../../../chat/src/rules/format.rules.ts'
import type { Listed, View } from '../model.ts'
import { stateText } from '../rules/lanes.rules.ts'
import { Text } from './text.tsx'

type Which = 'all' | 'waiting' | 'failed'
const isFailed = ({ state }: Listed): boolean => /failed|quarantined/.test(stateText(state))
const toneOf = (one: Listed): string => (one.waiting > 0 ? 'wait' : isFailed(one) ? 'fail' : one.busy ? 'run' : 'rest')

export const Sessions = ({ view: { listed = [], opened }, onOpen }: { view: View; onOpen(key: string): void }) => {
  const [words, setWords] = useState('')
  const [which, setWhich] = useState<Which>('all')
  const waiting = listed.filter((one) => one.waiting > 0)
  const failed = listed.filter(isFailed)
  const some = { all: listed, waiting, failed }[which]
  const needle = words.toLowerCase()
  const shown = some.filter((one) => `${one.key} ${one.title ?? ''} ${one.last ?? ''} ${stateText(one.state)}`.toLowerCase().includes(needle))
  const now = Date.now()
  const segments: [Which, string][] = [
    ['all', `All ${listed.length}`],
    ['waiting', `Waiting ${waiting.length}`],
    ['failed', `Failed ${failed.length}`],
  ]
  return (
    <nav class="sessions" aria-label="Sessions">
      <input
        type="search"
        placeholder="Key, text, state"
        aria-label="Search sessions"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <div class="choices">
        {segments.map(([one, label]) => (
          <button type="button" key={one} aria-pressed={which === one} onClick={() => setWhich(one)}>
            {label}
          </button>
        ))}
      </div>
      <ul>
        {shown.map((one) => (
          <li key={one.key}>
            <button type="button" aria-current={opened?.kind === 'session' && opened.id === one.key} onClick={() => onOpen(one.key)}>
              <span class={`shape ${toneOf(one)}`} aria-hidden="true" />
              <span class="key mono">
                <Text>{one.key}</Text>
              </span>
              <span class="fine">{whenOf(one.at, now)}</span>
              <span class="words">
                <Text>{one.last ?? one.title ?? ''}</Text>
              </span>
              <span class={`said mono ${toneOf(one)}`}>{one.waiting > 0 ? 'waits for you' : stateText(one.state)}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 && listed.length > 0 && <p class="fine">No session fits.</p>}
    </nav>
  )
}
