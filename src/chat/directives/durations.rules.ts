/** Lengths of time as people write them. */

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `500`, `500ms`, `2s`, `1.5m`, `3h` and `1d` in whole ms, a bare number being ms already; undefined for anything else. */
export const parseDuration = (text: string): number | undefined => {
  const [, amount, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim().toLowerCase()) ?? []
  const ms = Math.round(Number(amount) * (unitMs[unit] ?? Number.NaN))
  return Number.isSafeInteger(ms) ? ms : undefined
}
