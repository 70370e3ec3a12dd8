/** What is being written, by conversation: kept at each key press, the same in all tabs, gone when the server has it. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { keep, kept, whenKeptElsewhere } from '../../shared/storage.ts'

export type Draft = {
  text: string
  /** Shows it and keeps it. */
  write(text: string): void
  /** Sends it: the field is empty at once, what was in it is kept until the server has it, and comes back if it is refused. */
  give(send: (text: string) => Promise<void>): Promise<void>
}

export const useDraft = (conversation: string): Draft => {
  const name = `draft.${conversation}`
  const [draft, set] = useState(() => ({ name, text: kept(name) ?? '' }))
  // Another conversation was opened: its draft is there with the first drawing of it.
  const text = draft.name === name ? draft.text : (kept(name) ?? '')
  const now = useRef({ name, text })
  now.current = { name, text }
  useEffect(() => whenKeptElsewhere(name, (other) => set({ name, text: other })), [name])
  const write = useCallback(
    (next: string) => {
      set({ name, text: next })
      keep(name, next)
    },
    [name],
  )
  const give = useCallback(
    async (send: (text: string) => Promise<void>) => {
      const given = now.current.text
      // What has been written since, in this conversation, which may not be the open one any more.
      const since = () => (now.current.name === name ? now.current.text : '')
      set({ name, text: '' })
      try {
        await send(given)
      } catch (reason) {
        const back = [given, since()].filter(Boolean).join('\n\n')
        keep(name, back)
        if (now.current.name === name) set({ name, text: back })
        throw reason
      }
      if (since() === '' && kept(name) === given) keep(name, '')
    },
    [name],
  )
  return { text, write, give }
}
