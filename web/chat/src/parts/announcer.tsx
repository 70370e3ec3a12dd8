/** What a screen reader is told, and nobody sees. The log itself is never read aloud while it grows. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ChatView } from '../model.ts'
import { announced } from '../rules/announce.rules.ts'

export const Announcer = ({ view }: { view: ChatView }) => {
  const before = useRef(view)
  const [polite, say] = useState('')
  const [assertive, warn] = useState('')
  useEffect(() => {
    const said = announced(before.current, view)
    before.current = view
    if (said.polite) say(said.polite)
    if (said.assertive) warn(said.assertive)
  }, [view])
  return (
    <>
      <div class="unseen" role="status">
        {polite}
      </div>
      <div class="unseen" role="alert">
        {assertive}
      </div>
    </>
  )
}
