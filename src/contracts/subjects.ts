/** The one place where a subject is made: an id from outside can never become a wildcard, a second token or a protocol command. */
import { RuntimeError } from './errors.ts'

/** A root actor's address: what kind of machine, and which one. */
export type Address = { kind: string; id: string }

export const sameAddress = (one: Address, other: Address): boolean => one.id === other.id && one.kind === other.kind

export const maxIdBytes = 1024
const plain = /^[A-Za-z0-9_:-]+$/
const kindPattern = /^[a-z][a-z0-9-]{0,31}$/

/** Letters, digits and `_ - :` stay as they are, every other UTF-8 byte becomes `=XX`. @throws RuntimeError bad_request, too_large */
export const escapeToken = (id: string): string => {
  if (typeof id !== 'string' || id.length === 0)
    throw new RuntimeError('bad_request', 'an id must be a non-empty string', { field: 'id', hint: 'give at least one character' })
  if (id.length <= maxIdBytes && plain.test(id)) return id
  if (!id.isWellFormed()) throw new RuntimeError('bad_request', 'an id must be well-formed Unicode', { field: 'id' })
  const bytes = new TextEncoder().encode(id)
  if (bytes.length > maxIdBytes)
    throw new RuntimeError('too_large', `an id may have at most ${maxIdBytes} bytes, this one has ${bytes.length}`, {
      field: 'id',
      hint: 'use a hash or a shorter key',
    })
  return escapeBytes(bytes, plain)
}

/** @param kept matches the characters, ASCII from `-` on, that stay as they are; every other byte becomes `=XX` */
export const escapeBytes = (bytes: Uint8Array, kept: RegExp): string => {
  let text = ''
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    text += kept.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

/** The inverse of {@link escapeBytes}, as UTF-8. */
export const unescapeBytes = (text: string): string =>
  // What looks like a byte order mark is part of the text.
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.from(text.matchAll(/=([0-9A-F]{2})|(.)/g), ([, hex, other]) =>
      hex === undefined ? (other as string).charCodeAt(0) : Number(`0x${hex}`),
    ),
  )

/** The inverse of {@link escapeToken}. @throws RuntimeError bad_request for anything that it could not have made */
export const unescapeToken = (token: string): string => {
  if (plain.test(token)) return token
  if (!/^(?:[A-Za-z0-9_:-]|=[0-9A-F]{2})+$/.test(token)) throw new RuntimeError('bad_request', `'${token.slice(0, 80)}' is not an escaped token`)
  const id = unescapeBytes(token)
  if (escapeToken(id) !== token) throw new RuntimeError('bad_request', `'${token.slice(0, 80)}' is not the escaped form of any id`)
  return id
}

export const checkKind = (kind: string): string => {
  if (!kindPattern.test(kind))
    throw new RuntimeError('bad_request', `'${String(kind).slice(0, 40)}' is not a valid kind of actor`, {
      field: 'kind',
      hint: 'use lower-case letters, digits and hyphens, at most 32',
    })
  return kind
}

/** `session/main`: how an address is written in traces, logs and on the command line. */
export const formatAddress = ({ kind, id }: Address): string => `${checkKind(kind)}/${escapeToken(id)}`

export const parseAddress = (text: string): Address => {
  const at = text.indexOf('/')
  if (at < 1) throw new RuntimeError('bad_request', `'${text.slice(0, 80)}' is not an address`, { hint: 'write kind/id, such as session/main' })
  return { kind: checkKind(text.slice(0, at)), id: unescapeToken(text.slice(at + 1)) }
}

/** What is escaped where it need not be is not as a person wrote it. */
const isEscaped = (id: string): boolean => {
  try {
    return unescapeToken(id) !== id
  } catch {
    return false
  }
}

/** As people write it, `order/no 17`: for messages. What would be read as another address stays escaped. */
export const shownAddress = (address: Address): string => (isEscaped(address.id) ? formatAddress(address) : `${address.kind}/${address.id}`)

/** Builds and reads the subjects under one prefix. */
export const subjects = (prefix = 'statecast') => {
  for (const token of prefix.split('.'))
    if (!plain.test(token)) throw new RuntimeError('bad_request', `'${prefix}' is not a subject prefix`, { field: 'prefix' })
  const of = (part: string, { kind, id }: Address) => `${prefix}.${part}.${checkKind(kind)}.${escapeToken(id)}`
  const depth = prefix.split('.').length
  return {
    prefix,
    in: (address: Address) => of('in', address),
    out: (address: Address, event: string) => `${of('out', address)}.${escapeToken(event)}`,
    inspect: (address: Address) => of('inspect', address),
    journal: (address: Address) => of('journal', address),
    api: (command: string) => `${prefix}.api.${command.split('.').map(escapeToken).join('.')}`,
    dead: (reason: string) => `${prefix}.dead.${escapeToken(reason)}`,
    /** What nodes ask each other; not for anybody else. @param question one token, `*` for all */
    node: (node: string, question: string) => `${prefix}.node.${escapeToken(node)}.${question}`,
    /** Work of turns for any node that does it, and what is said about one piece of it. */
    work: (...tokens: string[]) => [prefix, 'work', ...tokens.map(escapeToken)].join('.'),
    /** Where a caller of the agent protocol answers one question. */
    answer: (token: string) => `${prefix}.answer.${escapeToken(token)}`,
    everyApi: () => `${prefix}.api.>`,
    everyIn: () => `${prefix}.in.>`,
    everyOut: (address: Address) => `${of('out', address)}.>`,
    /** The address inside a subject made by one of the builders above. @throws RuntimeError bad_request */
    address: (subject: string): Address => {
      const tokens = subject.split('.').slice(depth)
      const [, kind, id] = tokens
      if (!subject.startsWith(`${prefix}.`) || kind === undefined || id === undefined)
        throw new RuntimeError('bad_request', `'${subject.slice(0, 120)}' names no actor`, { hint: `write ${prefix}.in.<kind>.<id>` })
      return { kind: checkKind(kind), id: unescapeToken(id) }
    },
  }
}
export type Subjects = ReturnType<typeof subjects>
