/** Editors of some systems begin a text file with a byte order mark. It is part of no text (RFC 8259 §8.1): whoever reads a file leaves it out. */
const mark = '\ufeff'

export const withoutMark = (text: string): string => (text.startsWith(mark) ? text.slice(mark.length) : text)
