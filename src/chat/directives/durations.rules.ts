/** Lengths of time as people write them. */

import { timeUnits } from '../../contracts/time-units.ts'

/** `500`, `500ms`, `2s`, `1.5m`, `3h` and `1d` in whole ms, a bare number being ms already; undefined for anything else. */
export const parseDuration = (text: string): number | undefined => {
  const [, amount, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim().toLowerCase()) ?? []
  const ms = Math.round(Number(amount) * (timeUnits[unit] ?? Number.NaN))
  return Number.isSafeInteger(ms) ? ms : undefined
}
