/** A button and what it opens: a menu, or a small dialog. It closes by Esc, by a press elsewhere and by a choice, and gives the focus back. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'

type PopProps = {
  class: string
  name: string
  label: ComponentChildren
  /** Where it opens. */
  at: 'above' | 'below' | 'below-end'
  role?: 'menu' | 'dialog'
  children(close: () => void): ComponentChildren
}

export const Pop = ({ class: className, name, label, at, role = 'menu', children }: PopProps) => {
  const [open, set] = useState(false)
  const place = useRef<HTMLSpanElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    set(false)
    button.current?.focus()
  }
  useLayoutEffect(() => {
    if (!open) return
    const pressed = (event: Event) => {
      if (!place.current?.contains(event.target as Node)) set(false)
    }
    document.addEventListener('pointerdown', pressed)
    const items = itemsIn(place.current)
    ;(items.find((item) => item.ariaChecked === 'true') ?? items[0])?.focus()
    return () => document.removeEventListener('pointerdown', pressed)
  }, [open])
  const keys = (event: KeyboardEvent) => {
    if (!open) return
    if (event.key === 'Escape') {
      event.stopPropagation()
      close()
    }
    if (event.key === 'Tab') set(false)
    const items = itemsIn(place.current)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || items.length === 0) return
    event.preventDefault()
    const focused = items.indexOf(document.activeElement as HTMLElement)
    items[(focused + step + items.length) % items.length]?.focus()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the button and of what it has opened
    <span class="pop-place" ref={place} onKeyDown={keys}>
      <button
        type="button"
        class={className}
        ref={button}
        aria-label={name}
        title={name}
        aria-haspopup={role}
        aria-expanded={open}
        onClick={() => set(!open)}
      >
        {label}
      </button>
      {open && (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have names, which one it is cannot be seen here
        <div class={`pop ${at}`} role={role} aria-label={name}>
          {children(close)}
        </div>
      )}
    </span>
  )
}

const itemsIn = (place: Element | null): HTMLElement[] => [
  ...(place?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not([aria-disabled="true"])') ?? []),
]

type ItemProps = {
  checked?: boolean
  disabled?: boolean
  detail?: string | undefined
  onChoose(): void
  children: ComponentChildren
}

/** With `checked` it is one of several, of which one holds. */
export const Item = ({ checked, disabled = false, detail, onChoose, children }: ItemProps) => (
  // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is there only where the role has it
  <button
    type="button"
    class="item"
    role={checked === undefined ? 'menuitem' : 'menuitemradio'}
    aria-checked={checked}
    aria-disabled={disabled}
    tabIndex={-1}
    onClick={() => !disabled && onChoose()}
  >
    <span class="tick">{checked && <Icon name="check" />}</span>
    <span>{children}</span>
    {detail && <small>{detail}</small>}
  </button>
)
