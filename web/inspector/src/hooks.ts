/** Small things that several parts of the page need. */
import { createContext, type RefObject } from 'preact'
import { useContext, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { InspectorModel, InspectorView } from './model.ts'

const ModelContext = createContext<InspectorModel | undefined>(undefined)
export const ModelProvider = ModelContext.Provider

export const useModel = (): InspectorModel => {
  const model = useContext(ModelContext)
  if (!model) throw new TypeError('a part of the page stands outside mount()')
  return model
}

export const useView = (model: InspectorModel): InspectorView => {
  const [view, set] = useState(() => model.view())
  useEffect(() => {
    const look = () => set(model.view())
    look()
    return model.subscribe(look)
  }, [model])
  return view
}

/** The time, as often as it is looked at. */
export const useNow = (everyMs: number): number => {
  const [now, set] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** True once it has been so for this long. */
export const useLasting = (so: boolean, forMs: number): boolean => {
  const [lasted, set] = useState(false)
  useEffect(() => {
    if (!so) return set(false)
    const timer = setTimeout(() => set(true), forMs)
    return () => clearTimeout(timer)
  }, [so, forMs])
  return so && lasted
}

export const useMedia = (query: string): boolean => {
  const [fits, set] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const look = () => set(list.matches)
    look()
    list.addEventListener('change', look)
    return () => list.removeEventListener('change', look)
  }, [query])
  return fits
}

/** At which ends of something that scrolls there is more than is seen: words for a style to show. */
export const useMore = (of: RefObject<HTMLElement | null>, axis: 'x' | 'y'): string => {
  const [more, set] = useState('')
  const look = () => {
    const element = of.current
    if (!element) return
    const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = element
    const [from, seen, all] = axis === 'x' ? [scrollLeft, clientWidth, scrollWidth] : [scrollTop, clientHeight, scrollHeight]
    // Half a pixel is nothing that anybody misses.
    set(`${from > 1 ? 'before ' : ''}${from + seen < all - 1 ? 'after' : ''}`.trim())
  }
  // What is in it may be another thing each time.
  useLayoutEffect(look)
  useEffect(() => {
    const element = of.current
    if (!element) return
    element.addEventListener('scroll', look, { passive: true })
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      observer.disconnect()
    }
  }, [of])
  return more
}

/** The room that an element has, in px. */
export const useSize = (of: RefObject<HTMLElement | null>): { width: number; height: number } => {
  const [size, set] = useState({ width: 0, height: 0 })
  useLayoutEffect(() => {
    const element = of.current
    if (!element) return
    const look = () => set({ width: element.clientWidth, height: element.clientHeight })
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [of])
  return size
}
