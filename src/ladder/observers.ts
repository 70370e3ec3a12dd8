/** Who is told of each run that has ended: they get its report. */
import type { Report } from './envelope.ts'
import { LadderError, wordsOf } from './errors.ts'
import { flag, optionsIn } from './given.ts'
import { isolated, type Warn } from './listeners.ts'

export type Observer = ((report: Report) => unknown) | { report(report: Report): unknown }

/** `true`: the observers of the process; `false`: nobody; one observer: that one and nobody else. */
export type Observe = boolean | Observer

const all: { observers: readonly Observer[]; byDefault: boolean } = { observers: [], byDefault: false }
const warned = new WeakSet<object>()

/**
 * Sets the observers of this process, in the place of those before. An executable whose definition has `observe: true` is observed by them; with
 * `byDefault` each is that says nothing else, as far as its runs are not inside of another one. They are told once, and again where a crash leaves in doubt
 * whether they were.
 */
export const setLadderObservers = (observers: readonly Observer[], options: { byDefault?: boolean } = {}): void => {
  const { byDefault = false } = optionsIn<typeof options>(options, { byDefault: flag }, { who: 'setLadderObservers()', code: 'LADDER_CONFIG' })
  if (!Array.isArray(observers) || !observers.every((one) => typeof one !== 'boolean' && isObserve(one)))
    throw new LadderError('LADDER_CONFIG', 'setLadderObservers() has no list of observers', { hint: 'write setLadderObservers([(report) => …])' })
  all.observers = [...observers]
  all.byDefault = byDefault
}

export const observersFor = (observe: Observe | undefined, isInside: boolean): readonly Observer[] => {
  if (observe === undefined) return all.byDefault && !isInside ? all.observers : []
  return typeof observe === 'boolean' ? (observe ? all.observers : []) : [observe]
}

/** What one of them throws is said once, and disturbs nobody. */
export const observed = (observers: readonly Observer[], report: Report, warn: Warn): void => {
  for (const observer of observers)
    isolated(
      () => (typeof observer === 'function' ? observer(report) : observer.report(report)),
      (thrown) => {
        if (warned.has(observer)) return
        warned.add(observer)
        warn({ runId: report.runId, error: wordsOf(thrown) }, 'an observer of runs failed; further failures of it are not told')
      },
    )
}

export const isObserve = (value: unknown): value is Observe =>
  typeof value === 'boolean' ||
  typeof value === 'function' ||
  (typeof value === 'object' && value !== null && typeof (value as { report?: unknown }).report === 'function')
