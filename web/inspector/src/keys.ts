/** Keys that hold on the whole page. None acts while somebody types, or while a dialog is open. */
import { useEffect, useRef } from 'preact/hooks'

export type KeyActs = Record<string, (() => void) | undefined>

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type=range], [type=radio], [type=checkbox])'))

/** @param acts by key; letters in lower case, `⇧` before those that want Shift and are no letter */
export const useKeys = (acts: KeyActs): void => {
  const now = useRef(acts)
  now.current = acts
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
      if (isTyping(event.target) || document.querySelector('dialog[open]')) return
      const act =
        now.current[`${event.shiftKey && event.key.startsWith('Arrow') ? '⇧' : ''}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`]
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
