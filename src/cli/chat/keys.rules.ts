/**
 * Keys of a terminal for readline, which ends a line at each line break. A break that is part of a message, since it was pasted or typed with Alt or Shift,
 * becomes a mark that the line shows in its place.
 */

/** Shown as a sign; what a person types never has the second character, which is invisible. */
const breakMark = '\u2424\u2060'

export const withBreaks = (line: string): string => line.replaceAll(breakMark, '\n')

const pasteBegins = '\x1b[200~'
const pasteEnds = '\x1b[201~'
/** Alt Enter, and Shift or Alt Enter of terminals that tell them apart (CSI u, modifyOtherKeys). */
const breaks = ['\x1b\r', '\x1b\n', '\x1b[13;2u', '\x1b[13;3u', '\x1b[27;2;13~', '\x1b[27;3;13~']

/** What a pasted text may not do: press keys. */
const isKey = /[^\P{Cc}\n\t]/gu

export class Keys {
  #isPasting = false
  /** A paste as far as it has come, and the beginning of a sequence. */
  #held = ''

  /** @returns what readline is to read */
  take(chunk: string): string {
    let rest = this.#held + chunk
    let keys = ''
    this.#held = ''
    for (;;) {
      if (this.#isPasting) {
        const end = rest.indexOf(pasteEnds)
        if (end === -1) {
          this.#held = rest
          return keys
        }
        keys += pasted(rest.slice(0, end))
        rest = rest.slice(end + pasteEnds.length)
        this.#isPasting = false
        continue
      }
      const begin = rest.indexOf(pasteBegins)
      if (begin === -1) break
      keys += typed(rest.slice(0, begin))
      rest = rest.slice(begin + pasteBegins.length)
      this.#isPasting = true
    }
    const open = openSequence(rest)
    this.#held = rest.slice(rest.length - open)
    return keys + typed(rest.slice(0, rest.length - open))
  }
}

/** Lines of a paste are one message: the break at its end is where the copy ended. */
const pasted = (text: string): string =>
  text
    .replace(/\r\n?/g, '\n')
    .replace(isKey, '')
    .replace(/(?<!\n)\n+$/, '')
    .replaceAll('\n', breakMark)

const typed = (text: string): string => breaks.reduce((keys, sequence) => keys.replaceAll(sequence, breakMark), text)

/** Characters at the end that may go on as a sequence of ours. The escape key alone is one. */
const openSequence = (text: string): number => {
  const at = text.lastIndexOf('\x1b')
  const end = at === -1 ? '' : text.slice(at)
  return end.length > 1 && [pasteBegins, ...breaks].some((sequence) => sequence !== end && sequence.startsWith(end)) ? end.length : 0
}

/** A line that ends in a backslash goes on in the next one; two of them are one that was typed. */
export const goesOn = (line: string): boolean => {
  let at = line.length
  while (line[at - 1] === '\\') at--
  return (line.length - at) % 2 === 1
}
