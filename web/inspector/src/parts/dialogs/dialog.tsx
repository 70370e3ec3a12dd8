/** A dialog of the browser's own, which keeps the focus within itself and gives it back. */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../icons.tsx'

export const Dialog = ({ title, onClose, children }: { title: string; onClose(): void; children: ComponentChildren }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does it for the keyboard
    <dialog
      class="panel"
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => {
        // What lies behind it is part of the element, and nothing in it.
        if (event.target === dialog.current) onClose()
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <div class="inside">{children}</div>
    </dialog>
  )
}
