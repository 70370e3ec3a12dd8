/** Waiting until roots have nothing to do. */
import { type Clock, pause } from '../../contracts/environment.ts'
import type { Root } from '../root/root.ts'

const settleStepMs = 20
const vacateStepMs = 50

/** @returns whether none of them has anything to do; false after `timeoutMs` */
export const settled = async (live: () => Iterable<Root>, timeoutMs: number, clock: Clock): Promise<boolean> => {
  const until = clock.now() + timeoutMs
  while ([...live()].some((root) => root.working)) {
    if (clock.now() >= until) return false
    await pause(clock, settleStepMs)
  }
  return true
}

/** Dismisses each as soon as it has nothing to do; resolves when none is left. */
export const vacated = async (left: () => Root[], dismiss: (root: Root) => Promise<void>, clock: Clock): Promise<void> => {
  for (let roots = left(); roots.length > 0; roots = left()) {
    await Promise.all(roots.filter(({ working }) => !working).map(dismiss))
    if (roots.some(({ working }) => working)) await pause(clock, vacateStepMs)
  }
}
