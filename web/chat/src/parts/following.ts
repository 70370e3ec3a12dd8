/** Keeps the end of the log in sight while it is followed, and what is being read where it is while it is not. */
import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type FollowEvent, follows } from '../rules/follow.rules.ts'

type Following = { following: boolean; happened(event: FollowEvent): void }

export const useFollowing = (log: RefObject<HTMLElement | null>, column: RefObject<HTMLElement | null>, conversation: string): Following => {
  const [following, show] = useState(true)
  const now = useRef({ following: true, dragging: false, top: 0, touch: 0, anchor: undefined as Anchor | undefined })

  const toEnd = useCallback(() => {
    const element = log.current
    if (element) element.scrollTop = element.scrollHeight
  }, [log])

  const happened = useCallback(
    (event: FollowEvent) => {
      const next = follows(now.current.following, event)
      if (next !== now.current.following) {
        now.current.following = next
        if (!next) now.current.anchor = anchorIn(log.current)
        show(next)
      }
      if (next && event.type !== 'scrolled') toEnd()
    },
    [log, toEnd],
  )

  useLayoutEffect(() => happened({ type: 'opened' }), [conversation])

  useEffect(() => {
    const element = log.current
    const inner = column.current
    if (!element || !inner) return
    const state = now.current
    const scrolls = () => element.scrollHeight > element.clientHeight + 1
    const up = () => {
      if (scrolls()) happened({ type: 'moved-up' })
    }
    const listeners = {
      wheel: (event: WheelEvent) => event.deltaY < 0 && !event.ctrlKey && up(),
      touchstart: (event: TouchEvent) => {
        state.touch = event.touches[0]?.clientY ?? 0
      },
      touchmove: (event: TouchEvent) => (event.touches[0]?.clientY ?? 0) > state.touch + 4 && up(),
      keydown: (event: KeyboardEvent) => ['PageUp', 'Home', 'ArrowUp'].includes(event.key) && event.target === element && up(),
      // The scroll bar is the log's own; whatever else is pressed lies in it.
      pointerdown: (event: PointerEvent) => {
        state.dragging = event.target === element && event.offsetX >= element.clientWidth
      },
      scroll: () => {
        const down = element.scrollTop > state.top
        if (state.dragging && element.scrollTop < state.top) up()
        state.top = element.scrollTop
        happened({ type: 'scrolled', down, rest: element.scrollHeight - element.clientHeight - element.scrollTop })
        if (!state.following) state.anchor = anchorIn(element)
      },
    }
    const released = () => {
      state.dragging = false
    }
    const selected = () => {
      const selection = getSelection()
      if (selection && !selection.isCollapsed && selection.anchorNode && inner.contains(selection.anchorNode)) happened({ type: 'selected' })
    }
    const sought = (event: KeyboardEvent) => (event.ctrlKey || event.metaKey) && event.key === 'f' && scrolls() && happened({ type: 'selected' })
    for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener as EventListener, { passive: true })
    addEventListener('pointerup', released)
    document.addEventListener('selectionchange', selected)
    addEventListener('keydown', sought)
    // After the layout and before it is painted, so that nothing is ever seen elsewhere.
    const observer = new ResizeObserver(() => {
      if (state.following) toEnd()
      else if (state.anchor?.element.isConnected) {
        const moved = offsetOf(state.anchor.element, element) - state.anchor.offset
        if (Math.abs(moved) >= 1) element.scrollTop += moved
      }
      state.top = element.scrollTop
    })
    observer.observe(inner)
    observer.observe(element)
    return () => {
      for (const [name, listener] of Object.entries(listeners)) element.removeEventListener(name, listener as EventListener)
      removeEventListener('pointerup', released)
      document.removeEventListener('selectionchange', selected)
      removeEventListener('keydown', sought)
      observer.disconnect()
    }
  }, [log, column, happened, toEnd])

  return { following, happened }
}

/** The topmost block that can be seen, and how far it is from the upper edge. */
type Anchor = { element: Element; offset: number }

const offsetOf = (element: Element, log: Element): number => element.getBoundingClientRect().top - log.getBoundingClientRect().top

const anchorIn = (log: HTMLElement | null): Anchor | undefined => {
  if (!log) return undefined
  const edge = log.getBoundingClientRect().top
  const turn = firstBelow([...log.querySelectorAll('.turn')], edge)
  const element = turn && (firstBelow([...turn.children], edge) ?? turn)
  return element && { element, offset: offsetOf(element, log) }
}

/** They stand in their order, and there may be thousands. */
const firstBelow = (elements: readonly Element[], edge: number): Element | undefined => {
  let [from, to] = [0, elements.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((elements[middle] as Element).getBoundingClientRect().bottom > edge) to = middle
    else from = middle + 1
  }
  return elements[from]
}
