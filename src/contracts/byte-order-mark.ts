/** Editors of some systems begin a text file with a byte order mark. It is not part of the text (RFC 8259 §8.1), so readers of files remove it. */
const mark = '\ufeff'

export const withoutMark = (text: string): string => (text.startsWith(mark) ? text.slice(mark.length) : text)
