/** Whatever comes from a session, as text that does nothing: unseen characters become pictures, long texts are cut. */
export const textMax = 4096

export const plainText = (text: string): string =>
  text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    if (character === '\n' || character === '\t') return character
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  })

export const jsonText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))

/** `14:02:52.010` */
export const momentText = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime())
    ? ''
    : `${date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })}.${`${date.getMilliseconds()}`.padStart(3, '0')}`
}

/** `+0.4 s`, `+52 s`, `+3 min` */
export const gapText = (ms: number): string => {
  if (ms < 60_000) return `+${Number((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`
  return ms < 3_600_000 ? `+${Math.round(ms / 60_000)} min` : `+${Number((ms / 3_600_000).toFixed(1))} h`
}
