/** Times as people write them. */
const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** @param time ms, or a number with `ms`, `s`, `m`, `h`, `d`, `w` @returns ms; undefined where it says nothing */
export const msOf = (time: number | string): number | undefined => {
  if (typeof time === 'number') return time
  const [, count, unit] = /^(\d{1,15})\s?(ms|s|m|h|d|w)$/.exec(String(time)) ?? []
  return unit === undefined ? undefined : Number(count) * (units[unit] as number)
}
