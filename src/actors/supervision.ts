/** How often a root may fail before it is set aside, and how long it rests in between. */

export type Budget = { crashMax: number; crashPeriodMs: number }

const recent = (crashes: number[], now: number, { crashPeriodMs }: Budget): number => crashes.filter((at) => now - at < crashPeriodMs).length

/** Whether one more crash now would be too many. @param crashes ms since the epoch of those before */
export const overBudget = (crashes: number[], now: number, budget: Budget): boolean => recent(crashes, now, budget) + 1 > budget.crashMax

const firstMs = 50
const mostMs = 10_000

/** ms to wait before effects run again; doubles with every crash in the period. */
export const backoffMs = (crashes: number[], now: number, budget: Budget): number =>
  Math.min(mostMs, firstMs * 2 ** Math.max(0, recent(crashes, now, budget) - 1))
