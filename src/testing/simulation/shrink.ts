/** Makes a plan that found something as small as it gets, so that its story can be read. */
import type { Plan } from './plan.ts'

/** @param fails whether a smaller plan still finds something @param triesMax simulations to spend */
export const shrink = async <Act>(plan: Plan<Act>, fails: (plan: Plan<Act>) => Promise<boolean>, triesMax = 300): Promise<Plan<Act>> => {
  let best = plan
  let tries = 0
  const better = async (candidate: Plan<Act>): Promise<boolean> => {
    if (tries >= triesMax) return false
    tries++
    if (!(await fails(candidate))) return false
    best = candidate
    return true
  }
  for (let before: Plan<Act> | undefined; before !== best && tries < triesMax; ) {
    before = best
    for (const part of ['faults', 'acts'] as const)
      for (let size = Math.ceil(best[part].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
        for (let from = 0; from < best[part].length; ) {
          const rest = [...best[part].slice(0, from), ...best[part].slice(from + size)]
          if (!(await better({ ...best, [part]: rest }))) from += size
        }
  }
  return best
}
