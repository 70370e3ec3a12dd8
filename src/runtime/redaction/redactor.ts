/** What a journal says about people, taken out of it: everything that is a text is replaced, unless it is a word of the machine. */
import { randomBytes } from 'node:crypto'
import { errorFrom, errorParts, idAt, pathWith, type Registration, type Rewriting } from '../../actors/index.ts'
import { commandWords } from '../../contracts/command-words.ts'
import { type ErrorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, AnyEvent, Commit, Input } from '../../contracts/journal.ts'
import { depthMax } from '../../contracts/plain.ts'
import type { Address } from '../../contracts/subjects.ts'
import { wildcard } from '../../contracts/wildcard.ts'
import { Pseudonyms } from './pseudonyms.ts'
import { wordsOf } from './words.ts'

/**
 * What an author knows about his own data. Patterns of places, `*` stands for anything: `refund.ask.why` is the field `why` of the event `ask` of a refund,
 * `refund.create.item` of its input, `refund.pay.receipt` of what its actor `pay` answers. `redact` wins.
 */
export type RedactionOptions = { keep?: readonly string[]; redact?: readonly string[] }

type Told = { address: Address; registration: Registration; options?: RedactionOptions | undefined; words?: Iterable<string>; textMax: number }

/** Where a value stands. `free`: what tools are given and answer, of which the machine knows nothing. */
type Place = { name: string; key: string; free: boolean; depth: number }

/** Fields whose texts somebody has written, in any machine of ours. */
const written = new Set(['text', 'reasoning', 'note', 'reason', 'instructions', 'message', 'title', 'label', 'hint', 'description', 'line', 'name'])
/** What nobody but the caller and the tool know the form of. */
const freeFields = new Set(['input', 'output', 'details', 'data', 'arguments'])
/** Fields of a session whose values are words of ours. */
const worded = new Set(
  'agent agents cache channel chatType code credential decision finish inDoubt kind level mimeType mode model modelSource onCrash outcome policy provider queueMode role scope source status stopReason thinking toolExecution type verdict'.split(
    ' ',
  ),
)
/** A message may begin with a slash and be no command: only what we know as one says nothing about who gave it. */
const directive = /^\/([a-z]+)(?=[\s:]|$)([\s\S]*)$/i
/** In types of events that XState makes. */
const ofXState = new Set('xstate promise resolve reject observable next complete error done actor snapshot callback'.split(' '))
const word = /^[a-z][\w./:@-]{0,99}$/i

/** @returns how each commit is written anew */
export const redactorOf = ({ address, registration, options = {}, words = [], textMax }: Told): Rewriting => {
  const known = new Set([...wordsOf(registration), ...words])
  const stand = new Pseudonyms(randomBytes(32), textMax)
  const [keeps, redacts] = [options.keep ?? [], options.redact ?? []].map((patterns) => patterns.map(wildcard)) as [Test[], Test[]]
  const isSession = address.kind === 'session'

  const token = (part: string): string => (known.has(part) || /^\d{1,2}$/.test(part) ? part : stand.text(part))
  /** Of what is put together (`main/k1:2`) each part is replaced on its own, so that whoever puts it together gets the same. */
  const id = (text: string): string => (known.has(text) ? text : text.replace(/[\p{L}\p{N}]+/gu, token))
  const path = (one: ActorPath): ActorPath => pathWith(one, id)

  const text = (value: string, place: Place): string => {
    if (value.trim() === '') return value
    if (redacts.some((fits) => fits(place.name))) return stand.text(value)
    if (keeps.some((fits) => fits(place.name))) return value
    const parsed = /^\s*[{[]/.test(value) ? jsonIn(value) : undefined
    if (parsed !== undefined) return JSON.stringify(of(parsed, place))
    if (!place.free) {
      if (isSession && worded.has(place.key) && word.test(value)) return value
      if (known.has(value) && !(isSession && written.has(place.key))) return value
      const [, command = '', rest = ''] = (isSession && place.key === 'text' && directive.exec(value)) || []
      if (commandWords.has(command.toLowerCase())) return rest.trim() === '' ? value : `/${command} ${stand.text(rest)}`
      if (!written.has(place.key) && /^\S{1,512}$/.test(value)) return id(value)
    }
    return stand.text(value)
  }

  const of = (value: unknown, place: Place): unknown => {
    if (typeof value === 'string') return text(value, place)
    if (typeof value === 'number') return place.free && !keeps.some((fits) => fits(place.name)) ? stand.number(value) : value
    if (typeof value !== 'object' || value === null || value instanceof Date || place.depth > depthMax) return value
    const inner = (part: unknown, key: string, at = key): unknown =>
      of(part, { name: `${place.name}.${at}`, key, free: place.free || (isSession && freeFields.has(key)), depth: place.depth + 1 })
    if (Array.isArray(value)) return value.map((part: unknown) => of(part, { ...place, depth: place.depth + 1 }))
    if (value instanceof Uint8Array) return stand.bytes(value)
    if (isRuntimeError(value)) return RuntimeError.from(error(value.toJSON(), place))
    if (value instanceof Error) {
      const { name, message, properties } = errorParts(value)
      return errorFrom({ name: id(name), message: stand.text(message), properties: inner(properties, 'properties') as Record<string, unknown> })
    }
    // What a provider attached is for it alone, and no state depends on it.
    const entries = Object.entries(value).filter(([key]) => key !== 'providerMetadata')
    return Object.fromEntries(entries.map(([key, part]) => [keyOf(key, place), inner(part, key)]))
  }
  /** A name of a field says what it holds; anything else may be a name of somebody. */
  const keyOf = (key: string, { free, name }: Place): string => {
    if (known.has(key) || keeps.some((fits) => fits(`${name}.${key}`))) return key
    return !free && /^[A-Za-z_$][\w$-]{0,63}$/.test(key) ? key : id(key)
  }
  const error = ({ message, hint, field, data, ...body }: ErrorBody, { name, depth }: Place): ErrorBody => ({
    ...body,
    message: message === '' ? '' : stand.text(message),
    ...(hint === undefined ? {} : { hint: stand.text(hint) }),
    ...(field === undefined ? {} : { field: id(field) }),
    ...(data === undefined ? {} : { data: of(data, { name, key: 'data', free: false, depth: depth + 1 }) as Record<string, unknown> }),
  })
  const placed = (name: string): Place => ({ name: `${address.kind}.${name}`, key: '', free: false, depth: 0 })

  const event = (one: AnyEvent, name: string): AnyEvent => ({ ...(of({ ...one, type: '' }, placed(name)) as AnyEvent), type: eventType(one.type) })
  const eventType = (type: string): string =>
    type.startsWith('xstate.')
      ? type
          .split('.')
          .map((part) => (ofXState.has(part) ? part : id(part)))
          .join('.')
      : id(type)
  const input = (one: Input): Input => {
    if ('timer' in one) return one
    // What an effect says stands under `data` or `error`, which is no name of the author's.
    if ('from' in one) return { from: path(one.from), to: path(one.to), event: answered(one.event, idAt(one.from)) }
    const { to, id: own, renews, cause } = one
    return { to: path(to), event: event(one.event, one.event.type), ...ids({ id: own, renews, cause }) }
  }
  const answered = (one: AnyEvent, name: string): AnyEvent => {
    const { type, ...rest } = one
    return { ...Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, of(part, placed(name))])), type: eventType(type) }
  }
  const ids = <Named extends Record<string, string | undefined>>(named: Named): Named =>
    Object.fromEntries(Object.entries(named).flatMap(([key, one]) => (one === undefined ? [] : [[key, id(one)]]))) as Named
  const shownError = (one: ErrorBody): ErrorBody => error(one, placed('error'))

  return {
    address: { kind: address.kind, id: id(address.id) },
    path,
    commit: (commit: Commit) => ({
      writer: id(commit.writer),
      inputs: commit.inputs.map(input),
      ...(commit.create && { create: { ...commit.create, input: of(commit.create.input, placed('create')) } }),
      ...(commit.refused && { refused: commit.refused.map((one) => ({ input: input(one.input), error: shownError(one.error) })) }),
      ...(commit.crash && { crash: shownError(commit.crash) }),
      ...(commit.quarantine && { quarantine: shownError(commit.quarantine) }),
    }),
  }
}

type Test = (text: string) => boolean

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
