/** Finds and replaces a text in a file. Line ends may differ; the file keeps its own, and its byte order mark. */
import { withoutMark } from '../../contracts/byte-order-mark.ts'

export type Place = { at: number; length: number }

/** Models write line feeds, and read what they are shown the same. */
const unix = (text: string): string => text.replaceAll('\r\n', '\n')

/** Where `old` stands: exactly as it is written, or else wherever only the line ends differ. */
export const placesOf = (text: string, old: string): Place[] => {
  const wanted = withoutMark(old)
  const exact = exactPlaces(text, wanted)
  if (exact.length > 0 || !/\n/.test(wanted)) return exact
  const plain = unix(text)
  const found = exactPlaces(plain, unix(wanted))
  if (found.length === 0) return found
  // One walk through both: each place stands as far on as carriage returns were left out before it.
  let left = 0
  let from = 0
  const original = (at: number): number => {
    for (; from < at; from++) if (plain[from] === '\n' && text[from + left] === '\r') left++
    return at + left
  }
  return found.map(({ at, length }) => {
    const begin = original(at)
    return { at: begin, length: original(at + length) - begin }
  })
}

const exactPlaces = (text: string, part: string): Place[] => {
  const places: Place[] = []
  if (part === '') return places
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push({ at, length: part.length })
  return places
}

/** The text with `wanted` in all those places, in the line ends of the place, or else of the file. */
export const replacedAt = (text: string, places: readonly Place[], wanted: string): string => {
  const own = lineEndOf(text)
  let made = ''
  let end = 0
  for (const { at, length } of places) {
    made += text.slice(end, at) + withLineEnd(withoutMark(wanted), lineEndOf(text.slice(at, at + length)) ?? own)
    end = at + length
  }
  return made + text.slice(end)
}

const lineEndOf = (text: string): '\n' | '\r\n' | undefined => {
  const at = text.indexOf('\n')
  return at < 0 ? undefined : text[at - 1] === '\r' ? '\r\n' : '\n'
}

const withLineEnd = (text: string, end: '\n' | '\r\n' | undefined): string =>
  end === undefined ? text : end === '\n' ? unix(text) : unix(text).replaceAll('\n', '\r\n')

/** This call was interrupted: it had done its work where what it wants is there, and what it replaces is nowhere else. */
export const isDone = (text: string, old: string, wanted: string): boolean => {
  const done = placesOf(text, wanted)
  if (wanted !== '' && done.length === 0) return false
  let next = 0
  return placesOf(text, old).every(({ at, length }) => {
    while (next < done.length && endOf(done[next] as Place) < at + length) next++
    return next < done.length && (done[next] as Place).at <= at
  })
}

const endOf = ({ at, length }: Place): number => at + length
