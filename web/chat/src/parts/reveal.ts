/** What is new of an answer comes every 150 ms or slower; it is shown as if it came steadily. */
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

const spreadMs = 150

/** As much of the text as is shown now. Text that replaces another, and all that was there from the beginning, is shown at once. */
export const useReveal = (text: string, place: RefObject<HTMLElement | null>): string => {
  const [shown, show] = useState(text)
  const goesOn = text.startsWith(shown)
  useEffect(() => {
    if (shown === text) return
    if (!goesOn || document.hidden) return show(text)
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
    // As fast as all that is missing needs: the further behind, the faster.
    const speed = calm ? Number.POSITIVE_INFINITY : (text.length - shown.length) / spreadMs
    let last = performance.now()
    let at = shown.length
    let frame = 0
    const step = (now: number) => {
      const passed = Math.max(1, now - last)
      last = now
      // Who marks something in the open block keeps it: the block waits.
      if (!isSelected(place.current?.lastElementChild)) {
        at = Math.min(text.length, at + Math.max(1, speed * passed))
        show(text.slice(0, whole(text, Math.floor(at))))
      }
      if (at < text.length) frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
    const catchUp = () => show(text)
    document.addEventListener('visibilitychange', catchUp)
    return () => {
      cancelAnimationFrame(frame)
      document.removeEventListener('visibilitychange', catchUp)
    }
  }, [text])
  return goesOn ? shown : text
}

/** Never half a character. */
const whole = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text[at - 1] ?? '') ? at + 1 : at)

const isSelected = (element: Element | null | undefined): boolean => {
  const selection = getSelection()
  return element instanceof Element && selection !== null && !selection.isCollapsed && selection.containsNode(element, true)
}
