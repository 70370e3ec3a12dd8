/** Texts from a session as they are shown: nothing in them can turn the direction, hide or move what stands around them. */

/** Line breaks and tabs stay where a text has several lines. Marks of direction are shown, as they would act beyond their text. */
const pictured = /(?![\n\t])[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu
const names: Record<string, string> = {
  '\u200b': 'ZWSP',
  '\u200e': 'LRM',
  '\u200f': 'RLM',
  '\u202a': 'LRE',
  '\u202b': 'RLE',
  '\u202c': 'PDF',
  '\u202d': 'LRO',
  '\u202e': 'RLO',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\ufeff': 'BOM',
}

/** Control characters become pictures of themselves, other unseen ones their names. */
export const visible = (text: string): string =>
  text.replace(pictured, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    if (code === 0x7f) return '\u2421'
    return `\u27e8${names[character] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`}\u27e9`
  })

/** The same in one line. */
export const oneLine = (text: string): string => visible(text.replace(/[\n\t]+/g, ' '))

/** `812 B`, `12 kB`, `5.0 MB`. */
export const sizeWords = (characters: number): string => {
  if (characters < 1000) return `${characters} B`
  if (characters < 999_500) return `${Math.round(characters / 1000)} kB`
  return `${(characters / 1_000_000).toFixed(1)} MB`
}
