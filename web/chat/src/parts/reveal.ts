/** What is new of an answer comes every 150 ms or slower; it is shown as if it came steadily. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

const spreadMs = 150

/** As much of the text as is shown now. Text that replaces another, and all that was there from the beginning, is shown at once. */
export const useReveal = (text: string, live: boolean, place: RefObject<HTMLElement | null>): string => {
  const [shown, show] = useState(text)
  const latest = useRef({ text, live })
  latest.current = { text, live }
  const goesOn = text.startsWith(shown)
  useEffect(() => {
    if (!live || shown === text) return
    if (!goesOn || document.hidden || matchMedia('(prefers-reduced-motion: reduce)').matches) return show(text)
    let last = performance.now()
    // As fast as all that is missing needs: the further behind, the faster.
    const speed = (text.length - shown.length) / spreadMs
    let at = shown.length
    let frame = 0
    const step = (now: number) => {
      frame = requestAnimationFrame(step)
      // Who marks something in the open block keeps it: the block waits.
      if (isSelected(place.current?.lastElementChild)) {
        last = now
        return
      }
      at = Math.min(text.length, at + Math.max(1, speed * (now - last)))
      last = now
      show(text.slice(0, whole(text, Math.floor(at))))
      if (at >= text.length) cancelAnimationFrame(frame)
    }
    frame = requestAnimationFrame(step)
    const catchUp = () => show(text)
    document.addEventListener('visibilitychange', catchUp)
    return () => {
      cancelAnimationFrame(frame)
      document.removeEventListener('visibilitychange', catchUp)
    }
  }, [text, live])
  return live && goesOn ? shown : text
}

/** Never half a character. */
const whole = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text[at - 1] ?? '') ? at + 1 : at)

const isSelected = (element: Element | null | undefined): boolean => {
  const selection = getSelection()
  return element instanceof Element && selection !== null && !selection.isCollapsed && selection.containsNode(element, true)
}
