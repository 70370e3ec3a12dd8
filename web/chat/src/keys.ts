/** Keys that hold on the whole page. None is a single letter, except where nothing can be written. */
import { useEffect, useRef } from 'preact/hooks'
import { isComposing } from './hooks.ts'

type Acts = { search(): void; create(): void; settings(): void; stop(): void; escaped(): void; close(): void }

/** Two presses of Esc within this time are one sign. */
export const twiceMs = 1_500

export const useKeys = (on: boolean, acts: Acts): void => {
  const now = useRef(acts)
  now.current = acts
  useEffect(() => {
    let escapedAt = Number.NEGATIVE_INFINITY
    const pressed = (event: KeyboardEvent) => {
      if (isComposing(event) || event.defaultPrevented || document.querySelector('dialog[open]')) return
      const control = event.ctrlKey || event.metaKey
      const key = event.key.toLowerCase()
      const act = (then: () => void) => {
        event.preventDefault()
        then()
      }
      if (key === 'escape') {
        now.current.close()
        const twice = event.timeStamp - escapedAt < twiceMs
        escapedAt = twice ? Number.NEGATIVE_INFINITY : event.timeStamp
        if (!on) return
        if (twice) now.current.stop()
        else now.current.escaped()
      } else if (!on) return
      else if (control && !event.shiftKey && key === 'k') act(now.current.search)
      else if (control && event.shiftKey && key === 'o') act(now.current.create)
      else if (control && key === ',') act(now.current.settings)
      else if (event.altKey && event.code === 'KeyA') act(toQuestion)
      else if (event.altKey && key === 'arrowup') act(() => toMessage(-1))
      else if (event.altKey && key === 'arrowdown') act(() => toMessage(1))
      else if (key === '?' && event.target instanceof Element && event.target.matches('[data-log]')) act(now.current.settings)
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [on])
}

/** To the first question that waits; the answer is a key press of its own. */
const toQuestion = (): void => {
  const ask = document.querySelector<HTMLElement>('[data-ask]')
  ask?.scrollIntoView({ block: 'nearest' })
  ask?.querySelector('button')?.focus({ preventScroll: true })
}

/** To the turn before or after the one at the upper edge of the log. */
const toMessage = (step: 1 | -1): void => {
  const log = document.querySelector<HTMLElement>('[data-log]')
  if (!log) return
  const edge = log.getBoundingClientRect().top + 40
  const turns = [...log.querySelectorAll<HTMLElement>('[data-turn]')]
  const target =
    step < 0
      ? turns.findLast((turn) => turn.getBoundingClientRect().top < edge - 8)
      : turns.find((turn) => turn.getBoundingClientRect().top > edge + 8)
  if (!target) return
  log.focus({ preventScroll: true })
  // For those who keep the log where it is, a move upwards is what ends following.
  log.dispatchEvent(new WheelEvent('wheel', { deltaY: step }))
  log.scrollTop += target.getBoundingClientRect().top - edge + 8
}
