/** Named characters; numbered ones the lexer has replaced. Models write few names, and those that are not here can be read as they are. */
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

export const withoutEntities = (text: string): string => text.replace(/&([a-z]{2,6});/g, (all, name: string) => named[name] ?? all)
