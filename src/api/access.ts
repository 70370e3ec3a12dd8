/** What a token may do and see. A session that it does not reach is to it as one that was never there: same code, same words, found out in the same way. */
import { type Access, reaches } from '../contracts/access.ts'
import { type CommandInput, type CommandName, commands } from '../contracts/commands.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import { type Address, escapeToken, formatAddress } from '../contracts/subjects.ts'
import { configKind } from '../machines/index.ts'
import type { Health, RuntimeParts, TokenDocument } from '../runtime/index.ts'
import { registered, whereToLook } from '../runtime/index.ts'
import { parsePlace } from './place.ts'
import { requireScope } from './scopes.ts'

/** What the token with this hash allows now. */
export const accessOf = (tokens: TokenDocument, hash: string, now: number): Access | undefined => {
  const found = tokens.current.value.tokens?.find((token) => token.hash === hash)
  if (found === undefined || (found.expiresAt ?? now + 1) <= now) return undefined
  const { id, scopes, sessions } = found
  return { id, scopes, sessions }
}

/** They show or change more than conversations. */
const ofTheNode: ReadonlySet<CommandName> = new Set<CommandName>([
  'config.get',
  'config.set',
  'tokens.create',
  'tokens.list',
  'tokens.revoke',
  'nodes.list',
  'nodes.drain',
  'extensions.list',
  'extensions.reload',
  'environments.list',
])

/** @throws RuntimeError forbidden */
export const requireWhole = (access: Access | undefined, what: string): void => {
  if (access?.sessions === undefined) return
  throw new RuntimeError('forbidden', `${what} is not for a token of some sessions`, {
    hint: 'use one that is bound to no sessions, or the token of the node',
  })
}

/** How many actors a node has in memory says how busy others are. */
export const healthFor = (health: unknown, access: Access | undefined): unknown =>
  access?.sessions === undefined ? health : { ...(health as Partial<Health>), liveActors: undefined }

type Named = { sessionKey?: string; sessionKeys?: string[]; parent?: string; kind?: string; id?: string; as?: string }

/** The input of a command with every session by its one key. @throws RuntimeError bad_request, too_large */
export const readInput = <Name extends CommandName>(name: Name, input: unknown, keyOf: (key: string) => string): CommandInput<Name> => {
  const parsed = parseInput(commands[name], input) as Named
  const found: Named = { ...parsed }
  if (parsed.sessionKey !== undefined) found.sessionKey = keyOf(parsed.sessionKey)
  if (parsed.parent !== undefined) found.parent = keyOf(parsed.parent)
  if (parsed.sessionKeys) found.sessionKeys = parsed.sessionKeys.map(keyOf)
  if (parsed.as !== undefined) found.as = forkKey(parsed.as, (parsed.kind ?? 'session') === 'session' ? keyOf : (key) => key)
  if (parsed.id !== undefined && (parsed.kind ?? 'session') === 'session' && name !== 'tokens.revoke') found.id = keyOf(parsed.id)
  return found as CommandInput<Name>
}

/** What is wrong with the key of a fork is wrong with `as`. @throws RuntimeError bad_request, too_large */
const forkKey = (as: string, keyOf: (key: string) => string): string => {
  try {
    const key = keyOf(as)
    escapeToken(key)
    return key
  } catch (error) {
    if (!isRuntimeError(error)) throw error
    throw new RuntimeError(error.code, error.message, { ...error.toJSON(), field: 'as', cause: error })
  }
}

/** By their addresses, and not by keys of sessions. */
const traced: ReadonlySet<CommandName> = new Set<CommandName>(['events.read', 'trace.read', 'trace.frames'])
const folded: ReadonlySet<CommandName> = new Set<CommandName>([
  'trace.replay',
  'trace.moment',
  'trace.steps',
  'trace.relay',
  'trace.fork',
  'trace.export',
])

/** @returns the input as far as it may be carried out @throws RuntimeError forbidden; not_found as for a session that is not there */
export const permitted = async <Name extends CommandName>(
  parts: RuntimeParts,
  name: Name,
  input: CommandInput<Name>,
  access: Access,
): Promise<CommandInput<Name>> => {
  if (ofTheNode.has(name)) requireWhole(access, name)
  const { kind: asked } = input as Named
  // Their journals hold what only an administrator may see: the configuration, and who has which token.
  if (asked === configKind) requireScope(access.scopes, 'admin', `${name} of '${asked}'`)
  if (access.sessions === undefined) return input
  const { sessionKey, sessionKeys, parent, kind = 'session', id, as, ...rest } = input as Named & { after?: string }
  if (name === 'sessions.resolve') return input
  // Of others there is nothing to clear.
  if (sessionKeys) return { ...input, sessionKeys: sessionKeys.filter((key) => reaches(access, key)) }
  if (parent !== undefined && !reaches(access, parent)) await throwUnknown(parts, 'chat.send', { kind: 'session', id: parent })
  if (as !== undefined && !reaches(access, as))
    throw new RuntimeError('forbidden', `this token does not reach '${as.slice(0, 80)}'`, { field: 'as', hint: 'give a key that it reaches' })
  const address = sessionKey !== undefined ? { kind: 'session', id: sessionKey } : id !== undefined ? { kind, id } : undefined
  if (address === undefined || (address.kind === 'session' && reaches(access, address.id))) return input
  if (name === 'events.read' && rest.after !== undefined) parsePlace(rest.after, 'after')
  return await throwUnknown(parts, name, address)
}

const throwUnknown = async (parts: RuntimeParts, name: CommandName, address: Address): Promise<never> => {
  registered(parts, address.kind)
  // It takes as long as finding nothing does.
  await parts.transport.journal.head(address)
  throw unknownActor(parts, name, address)
}

const unknownActor = (parts: RuntimeParts, name: CommandName, address: Address): RuntimeError => {
  const look = whereToLook(parts, address.kind)
  if (traced.has(name)) return new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: look })
  const what = name.startsWith('actors.') || folded.has(name) ? `there is no ${formatAddress(address)}` : noSession(address.id)
  return new RuntimeError('not_found', what, { hint: beginsHint(look) })
}

export const noSession = (key: string): string => `there is no session '${key.slice(0, 80)}'`
export const beginsHint = (look: string): string => `it begins with its first message; ${look}`

/** The same for doors that reach a session without a command. */
export const unknownSession = (key: string): RuntimeError =>
  new RuntimeError('not_found', noSession(key), { hint: beginsHint('see `statecast sessions`') })
