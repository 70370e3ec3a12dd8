/** Names as they can be seen, whatever is in them: nothing hides, or turns the direction of what stands around it. */

/** What nobody sees is shown as a picture of it. */
export const shownText = (words: string): string =>
  Array.from(words.toWellFormed())
    .map((character) => (isUnseen(character) ? pictureOf(character) : character))
    .join('')

/** The same with what XML would take for its own written out. */
export const xmlText = (words: string): string => shownText(words).replace(/[&<>"']/g, (character) => entities[character] ?? '')

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const isUnseen = (character: string): boolean => /[\p{Cc}\p{Cf}\u2028\u2029\ufffe\uffff]/u.test(character)
const pictureOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code < 0x20 ? String.fromCodePoint(0x2400 + code) : code === 0x7f ? '\u2421' : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}
