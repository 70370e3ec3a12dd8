/**
 * JSON whose numbers keep their digits. `JSON.parse` makes 1497549923779084300 of 1497549923779084388 without an error. Here such a number is refused, or
 * its digits are handed on as text (RFC 8259 §6; reports: anthropics/claude-code#37707, openclaw/openclaw#22397).
 */
import { RuntimeError } from './errors.ts'

/** Where a number stands in its JSON: names of fields and places in lists, from the outside in. */
type Path = readonly (string | number)[]

/** @param noun what holds it, as in `the body` @returns the error of a number that would become another one */
const inexactError = (literal: string, path: Path, noun: string): RuntimeError => {
  const field = path.join('.')
  return new RuntimeError(
    'bad_request',
    `the number ${cut(literal)}${field === '' ? '' : ` at ${cut(field)}`} of the ${noun} would become ${Number(literal)}`,
    {
      hint: exactHint,
      ...(field !== '' && { field }),
    },
  )
}
const exactHint = 'send numbers of more than 15 digits as text, in quotes'

const shownMax = 80
const cut = (text: string): string => (text.length > shownMax ? `${text.slice(0, shownMax)}…` : text)

/**
 * @param noun what the text is, as in `the body is not JSON`
 * @throws SyntaxError where it is not JSON, RuntimeError bad_request where a number would become another one; bounds of schemas may
 */
export const parseExact = (text: string, noun: string): unknown => {
  const json: unknown = JSON.parse(text)
  if (longNumber.test(text))
    for (const { literal, path } of numbersIn(text)) if (!isExact(literal) && !isBound(path)) throw inexactError(literal, path, noun)
  return json
}

/** Replaces each number that JavaScript cannot keep with a string of its digits. Bounds of schemas and invalid JSON stay unchanged. */
export const withDigitsAsText = (text: string): string => {
  if (!longNumber.test(text)) return text
  let exact = ''
  let end = 0
  for (const { literal, at, path } of numbersIn(text)) {
    if (isExact(literal) || isBound(path)) continue
    exact += `${text.slice(end, at)}"${literal}"`
    end = at + literal.length
  }
  return exact + text.slice(end)
}

/** Fewer digits are always kept, unless an exponent moves them out of reach. A text without a match needs none of what is here. */
export const longNumber = /[\d.]{16}|\d[eE][+-]?\d{2}/
const aNumber = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** All numbers of a JSON text, by one walk over its characters. */
function* numbersIn(text: string): Generator<{ literal: string; at: number; path: Path }> {
  const open: { isList: boolean; place: string | number }[] = []
  let quoted = ''
  for (let at = 0; at < text.length; ) {
    const character = text[at] as string
    const inner = open.at(-1)
    if (character === '"') {
      const end = endOfText(text, at)
      if (inner && !inner.isList) quoted = text.slice(at, end)
      at = end
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      aNumber.lastIndex = at
      const literal = aNumber.exec(text)?.[0] ?? character
      yield { literal, at, path: open.map(({ place }) => place) }
      at += literal.length
    } else {
      if (character === '{' || character === '[') open.push({ isList: character === '[', place: 0 })
      else if (character === '}' || character === ']') open.pop()
      else if (character === ',' && inner?.isList) (inner.place as number)++
      else if (character === ':' && inner) inner.place = nameIn(quoted)
      at += 1
    }
  }
}

const nameIn = (quoted: string): string => {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** Behind the closing quote of the text that begins at `from`. */
const endOfText = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return text.length
}

/** Whether JavaScript keeps the number that a literal of JSON says, and writes it again. */
export const isExact = (literal: string): boolean => {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  const number = normal(literal)
  if (number === normal(String(value))) return true
  // Some programs write all the digits of a fraction that both sides hold: 0.1000000000000000056.
  const size = /\d+/.exec(number)?.[0].length ?? 0
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && size <= precisionMax && number === normal(value.toPrecision(size))
}
const precisionMax = 100

/** Its digits without zeros around them, and how far they are moved: `-15e-1`. */
const normal = (literal: string): string => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = all.slice(0, endOfDigits(all))
  return digits === '' ? '0' : `${sign}${digits}e${Number(exponent) - fraction.length + all.length - digits.length}`
}

const endOfDigits = (digits: string): number => {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return end
}

/** Schemas that other programs make end integers at 9223372036854775807: a bound that moves by one refuses no message. */
const isBound = (path: Path): boolean => bounds.has(path.at(-1) as string) && path.some((name) => schemas.has(name as string))
const bounds = new Set(['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'])
const schemas = new Set(['clientTools', 'tools', 'functions', 'parameters', 'schema', 'inputSchema', 'input_schema'])
