/**
 * Calls of tools that a model has written into its text, as JSON, where it should have made them. A reader of the text in pieces: however it is cut, it comes to
 * the same. Pure.
 */
import { withDigitsAsText } from '../../index.ts'

export type LeakedCall = { name: string; input: Record<string, unknown> }
/** What has been read and not been told: it may yet turn out to be a call. */
export type Reading = { held: string }
type Read = Reading & { text: string; calls: readonly LeakedCall[] }
/** Whether a tool has that name and takes that input. */
export type Fits = (name: string, input: Record<string, unknown>) => boolean

/** Characters that are held back at most: what is longer is no call. */
const heldMax = 8192

export const nothingRead: Reading = { held: '' }

export const readPiece = (reading: Reading, piece: string, fits: Fits): Read => read(reading.held + piece, fits, false)
/** The end of the text: what is held is a call now, or text. */
export const readEnd = (reading: Reading, fits: Fits): Read => read(reading.held, fits, true)

/** What begins something that may be a call. */
const tag = '<tool_call>'
const openers = ['{', '[', '```', tag]
const fenceLanguages = ['', 'json', 'tool_call', 'tool_code']

/** A whole that begins here: where it ends, and the JSON in it; `'open'`: it has not ended yet; nothing: it is none. */
type Unit = { end: number; json: string } | 'open' | undefined

const read = (all: string, fits: Fits, isEnd: boolean): Read => {
  let text = ''
  const calls: LeakedCall[] = []
  let at = 0
  while (at < all.length) {
    const next = nextOpener(all, at)
    text += all.slice(at, next.at)
    at = next.at
    if (at === all.length) break
    // The beginning of an opener, as far as it has come.
    if (next.opener === undefined) {
      if (!isEnd) break
      text += all[at++]
      continue
    }
    const unit = unitAt(all, at, next.opener)
    if (unit === 'open' && !isEnd) break
    const leaked = unit === undefined || unit === 'open' ? undefined : callsIn(unit.json, fits)
    if (leaked && unit !== undefined && unit !== 'open') {
      calls.push(...leaked)
      at = unit.end
    } else if (unit !== undefined && unit !== 'open' && next.opener !== '```' && next.opener !== tag && isJson(unit.json)) {
      // JSON that means something else: what is inside of it is no call either.
      text += all.slice(at, unit.end)
      at = unit.end
    } else {
      text += next.opener
      at += next.opener.length
    }
  }
  return { held: all.slice(at), text, calls }
}

const nextOpener = (all: string, from: number): { at: number; opener?: string } => {
  for (let at = from; at < all.length; at++) {
    const opener = openers.find((one) => all.startsWith(one, at))
    if (opener !== undefined) return { at, opener }
    if (openers.some((one) => one.startsWith(all.slice(at, at + one.length)) && all.length - at < one.length)) return { at }
  }
  return { at: all.length }
}

const unitAt = (all: string, at: number, opener: string): Unit => {
  const unit = opener === '```' ? fenceAt(all, at) : opener === tag ? taggedAt(all, at) : jsonAt(all, at)
  if (unit === 'open') return all.length - at > heldMax ? undefined : unit
  return unit && unit.end - at > heldMax ? undefined : unit
}

/** From a bracket to the one that closes it. What can be no object, or a list of some, is given up at once. */
const jsonAt = (all: string, from: number): Unit => {
  let depth = 0
  let isText = false
  let before = ''
  for (let at = from; at < all.length && at - from <= heldMax; at++) {
    const character = all[at] as string
    if (isText) {
      if (character === '\\') at++
      else if (character === '"') isText = false
      continue
    }
    if (/\s/.test(character)) continue
    if (before === '{' && character !== '"' && character !== '}') return undefined
    if (before === '[' && depth === 1 && all[from] === '[' && character !== '{') return undefined
    before = character
    if (character === '"') isText = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return { end: at + 1, json: all.slice(from, at + 1) }
  }
  return 'open'
}

const fenceAt = (all: string, at: number): Unit => {
  const line = all.indexOf('\n', at)
  const language = all.slice(at + 3, line < 0 ? all.length : line).trim()
  if (line < 0) return fenceLanguages.some((one) => one.startsWith(language)) && all.length - at < 40 ? 'open' : undefined
  if (!fenceLanguages.includes(language) || line - at >= 40) return undefined
  return enclosed(all, at, line + 1, '```')
}
const taggedAt = (all: string, at: number): Unit => enclosed(all, at, at + tag.length, '</tool_call>')

/** JSON between what opens it and what closes it, with nothing but space around. */
const enclosed = (all: string, at: number, from: number, closer: string): Unit => {
  const begin = from + (/^\s*/.exec(all.slice(from, at + heldMax)) as RegExpExecArray)[0].length
  if (begin >= all.length) return 'open'
  if (all[begin] !== '{' && all[begin] !== '[') return undefined
  const inner = jsonAt(all, begin)
  if (inner === undefined || inner === 'open') return inner
  const end = inner.end + (/^\s*/.exec(all.slice(inner.end, at + heldMax)) as RegExpExecArray)[0].length
  if (all.startsWith(closer, end)) return { end: end + closer.length, json: inner.json }
  return closer.startsWith(all.slice(end)) ? 'open' : undefined
}

const isJson = (text: string): boolean => parsed(text) !== undefined
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(withDigitsAsText(text)) as unknown
  } catch {
    return undefined
  }
}

/** All that is in it, if it is nothing but calls. */
const callsIn = (json: string, fits: Fits): readonly LeakedCall[] | undefined => {
  const value = parsed(json)
  const { tool_calls: wrapped, ...others } = isObject(value) ? value : {}
  const list = Array.isArray(value) ? value : Array.isArray(wrapped) && Object.keys(others).length === 0 ? wrapped : [value]
  const calls = list.map((one) => callOf(one))
  const whole = calls.filter((call) => call !== undefined)
  return whole.length > 0 && whole.length === calls.length && whole.every(({ name, input }) => fits(name, input)) ? whole : undefined
}

const names = ['name', 'tool', 'tool_name']
const inputs = ['arguments', 'args', 'input', 'parameters']
const besides = ['id', 'type', 'callId', 'call_id']

const callOf = (value: unknown): LeakedCall | undefined => {
  if (!isObject(value)) return undefined
  const { function: inner, ...rest } = value
  if (isObject(inner)) return Object.keys(rest).every((key) => besides.includes(key)) ? callOf(inner) : undefined
  const [name, ...otherNames] = names.filter((key) => Object.hasOwn(value, key))
  const [input, ...otherInputs] = inputs.filter((key) => Object.hasOwn(value, key))
  if (name === undefined || input === undefined || otherNames.length + otherInputs.length > 0) return undefined
  if (!Object.keys(value).every((key) => key === name || key === input || besides.includes(key))) return undefined
  const said = typeof value[input] === 'string' ? parsed(value[input]) : value[input]
  return typeof value[name] === 'string' && isObject(said) ? { name: value[name], input: said } : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
