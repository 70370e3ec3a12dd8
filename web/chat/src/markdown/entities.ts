/** Character references as Markdown has them. Models write few of these; the others stay as they are, which can be read too. */
const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
  times: '×',
  rarr: '→',
  larr: '←',
}

export const withoutEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,6}));/g, (all, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    // Neither control characters nor halves of a pair, which no text holds.
    const isCharacter = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : all
  })
