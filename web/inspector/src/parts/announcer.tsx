/** What a screen reader is told of the moment, and nobody sees: at most one sentence a second. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { InspectorView } from '../model.ts'
import { toldOf } from '../rules/sentence.rules.ts'

const everyMs = 1_000

export const Announcer = ({ view: { recorded, place } }: { view: InspectorView }) => {
  const [said, say] = useState('')
  const saidAt = useRef(0)
  const row = recorded.rows[place.seq - 1]
  const text = row ? toldOf(row, recorded, place.head) : ''
  useEffect(() => {
    if (text === '') return
    const timer = setTimeout(
      () => {
        saidAt.current = performance.now()
        say(text)
      },
      Math.max(150, saidAt.current + everyMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="unseen" role="status" aria-live="polite">
      <bdi>{said}</bdi>
    </div>
  )
}
