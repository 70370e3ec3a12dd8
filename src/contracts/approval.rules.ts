/** What people read of a call that waits for them: what silence comes to, and when. */
import type { Approval } from './turn.ts'

const spans: readonly [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]

/** `95 s`, `4 min`: the largest unit of which there are at least two; seconds are rounded up, so that nothing is over before its time. */
export const spanText = (ms: number): string => {
  const [unit, size] = spans.find(([, size]) => ms >= 2 * size) ?? (['s', 1000] as const)
  return `${Math.max(0, unit === 's' ? Math.ceil(ms / size) : Math.floor(ms / size))} ${unit}`
}

/** `denied in 95 s`, or nothing where the call waits until a person decides. */
export const silenceText = ({ deadline, onTimeout }: Pick<Approval, 'deadline' | 'onTimeout'>, now: number): string | undefined =>
  deadline === undefined ? undefined : `${onTimeout === 'allow' ? 'runs' : 'denied'} in ${spanText(deadline - now)}`
