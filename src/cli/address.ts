/** What a KEY on the command line means: a conversation, or `kind/id` of any actor. */
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { type Address, parseAddress } from '../contracts/subjects.ts'

/** An address as people write it, or as traces do. */
export const addressIn = (key: string): Address => {
  try {
    return parseAddress(key)
  } catch {
    // Not escaped.
    const at = key.indexOf('/')
    return { kind: key.slice(0, at), id: key.slice(at + 1) }
  }
}

/** Readings of a key, the likelier first: `order/o-17` is an actor, unless there is only a conversation of that name. */
const readings = (key: string): Address[] => {
  const session = { kind: 'session', id: key }
  if (!/^[a-z][a-z0-9-]{0,31}\/./.test(key)) return [session]
  return [addressIn(key), session]
}

/** Tries the readings in turn. @throws RuntimeError not_found of the first reading when none is there */
export const withAddress = async <Result>(key: string, use: (address: Address) => Promise<Result>): Promise<Result> => {
  let first: unknown
  for (const address of readings(key)) {
    try {
      return await use(address)
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'not_found') throw error
      first ??= error
    }
  }
  throw first
}

/** The same where only a conversation will do. @throws RuntimeError not_found */
export const withSession = <Result>(key: string, use: (sessionKey: string) => Promise<Result>): Promise<Result> =>
  withAddress(key, async ({ kind, id }) => {
    if (kind === 'session') return use(id)
    throw new RuntimeError('not_found', `there is no session '${key.slice(0, 80)}'`, { hint: 'see `statecast sessions`' })
  })
