/** Keys for moving through a trace; none acts while somebody types. */
import { useEffect } from 'preact/hooks'
import type { Model, Opened } from './model.ts'

export const useKeys = (model: Model): void => {
  useEffect(() => {
    const heard = (event: KeyboardEvent): void => {
      // As it is now: keys may come faster than the page is drawn.
      const { opened } = model.view()
      if (!opened || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const act = actions(model, opened)[event.shiftKey && event.key.startsWith('Arrow') ? `Shift+${event.key}` : event.key]
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', heard)
    return () => removeEventListener('keydown', heard)
  }, [model])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input[type=search], input[type=text], textarea, select') || target.isContentEditable)

const actions = (model: Model, { seq, rows, actor, live, look }: Opened): Record<string, (() => void) | undefined> => {
  const isTouched = ({ marks, states }: (typeof rows)[number]) => actor in states || marks.some(({ path }) => path === actor)
  const isTrouble = ({ marks, host }: (typeof rows)[number]) => host.length > 0 || marks.some(({ kind }) => kind === 'error')
  const back = (fits: (row: (typeof rows)[number]) => boolean) => rows.findLast((row) => row.seq < seq && fits(row))
  const on = (fits: (row: (typeof rows)[number]) => boolean) => rows.find((row) => row.seq > seq && fits(row))
  const to = (row: { seq: number } | undefined) => row && model.go(row.seq)
  const paths = look?.moment.actors.filter(({ kind }) => kind === 'machine').map(({ path }) => path) ?? []
  const beside = (by: number) => {
    const path = paths[paths.indexOf(actor) + by]
    if (path !== undefined) model.choose(path)
  }
  return {
    ArrowLeft: () => model.go(seq - 1),
    ArrowRight: () => model.go(seq + 1),
    'Shift+ArrowLeft': () => to(back(isTouched)),
    'Shift+ArrowRight': () => to(on(isTouched)),
    '[': () => to(back(isTrouble)),
    ']': () => to(on(isTrouble)),
    Home: () => model.go(1),
    End: () => model.go(rows.length),
    ArrowUp: () => beside(-1),
    ArrowDown: () => beside(1),
    l: () => model.follow(!live),
    '/': () => document.querySelector<HTMLInputElement>('.sessions input')?.focus(),
  }
}
