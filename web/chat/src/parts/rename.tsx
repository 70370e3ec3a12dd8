/** A title in its place, to be changed: Enter keeps, Esc reverts. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isComposing } from '../hooks.ts'

export const Rename = ({ title, onDone }: { title: string; onDone(title?: string): void }) => {
  const field = useRef<HTMLInputElement>(null)
  const done = useRef(false)
  useLayoutEffect(() => field.current?.select(), [])
  const end = (next?: string) => {
    if (done.current) return
    done.current = true
    const kept = next?.trim()
    onDone(kept && kept !== title ? kept : undefined)
  }
  return (
    <input
      class="rename"
      aria-label="Title"
      ref={field}
      maxLength={200}
      defaultValue={title}
      onBlur={(event) => end(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (isComposing(event)) return
        if (event.key === 'Enter') end(event.currentTarget.value)
        if (event.key !== 'Escape') return
        event.stopPropagation()
        end()
      }}
    />
  )
}
