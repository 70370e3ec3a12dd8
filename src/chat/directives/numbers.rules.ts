/** Numbers as users read them (OC-94). */

/** `999`, `1.5k`, `12k`, `2.3m`: rounded first, so that none reads as 1000 of the smaller unit. */
export const tokensText = (count: number): string => {
  const whole = Math.round(count)
  if (whole < 1000) return String(whole)
  const tenths = (whole / 1000).toFixed(1)
  if (Number(tenths) < 10) return `${tenths}k`
  const thousands = Math.round(whole / 1000)
  return thousands < 1000 ? `${thousands}k` : `${(whole / 1_000_000).toFixed(1)}m`
}

/** `$1.50`; below a cent with four decimals. */
export const moneyText = (usd: number): string => `$${usd.toFixed(usd >= 0.01 ? 2 : 4)}`
