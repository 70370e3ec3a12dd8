import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** What is wider than the page scrolls in itself, and then the keyboard can get there. */
export const Wide = ({ label, children }: { label: string; children: ComponentChildren }) => {
  const place = useRef<HTMLElement>(null)
  const [wide, set] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const observer = new ResizeObserver(() => set(element.scrollWidth > element.clientWidth + 1))
    observer.observe(element)
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [])
  return (
    <section class="wide" ref={place} aria-label={label} tabIndex={wide ? 0 : undefined}>
      {children}
    </section>
  )
}
