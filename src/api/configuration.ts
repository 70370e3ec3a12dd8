/** Commands that show and change the configuration, and the tokens. */
import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { TokenEntry } from '../contracts/access.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { refuseForbidden, sourcesOf, stepsOf, valueAt, withValue } from '../contracts/configuration.rules.ts'
import { Configuration } from '../contracts/configuration.ts'
import { definedOf } from '../contracts/defined.ts'
import { errorBody, RuntimeError } from '../contracts/errors.ts'
import type { RuntimeParts } from '../runtime/index.ts'
import { checkConfiguration } from '../runtime/index.ts'
import { withImplied } from './scopes.ts'

const retry = (why: string): RuntimeError =>
  new RuntimeError('conflict', `${why}: reload and retry`, { field: 'baseHash', hint: 'send the hash of the last config.get as baseHash' })

export const getConfig = async ({ config }: RuntimeParts, { key, schema }: CommandInput<'config.get'>) => {
  await config.load()
  const { value, hash } = config.view
  const sources = sourcesOf(config.app, config.stored)
  if (key !== undefined) {
    const steps = stepsOf(key)
    const found = valueAt(value, steps)
    return { key, value: found ?? null, source: sources[key] ?? null, hash }
  }
  return { config: value, hash, sources, ...(schema ? { schema: z.toJSONSchema(Configuration, { unrepresentable: 'any' }) } : {}) }
}

/** The models that are named as the ones to use. */
const refsIn = (value: unknown, name = ''): Set<string> => {
  if (typeof value === 'string') return new Set(name === 'model' || name === 'modelOverride' ? [value] : [])
  if (typeof value !== 'object' || value === null) return new Set()
  return new Set(Object.entries(value).flatMap(([key, inner]) => [...refsIn(inner, name === 'modelOverride' ? name : key)]))
}

/** Of each model that this node cannot use as things are, why. A key may come tomorrow, and to another node: it is no reason to refuse. */
const unusable = async ({ models }: RuntimeParts, refs: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(
    refs.map((ref) =>
      models.get(ref).then(
        () => [],
        (error: unknown) => {
          const { message, hint } = errorBody(error)
          return [`${ref} cannot be used on this node: ${message}${hint === undefined ? '' : ` (${hint})`}`]
        },
      ),
    ),
  )
  return found.flat()
}

/** @returns `warnings` for models that cannot be used as things are: each message would fail */
export const setConfig = async (parts: RuntimeParts, input: CommandInput<'config.set'>) => {
  const { config, agents } = parts
  const { key, value, raw, baseHash, by } = input
  if ((key === undefined) === (raw === undefined))
    throw new RuntimeError('bad_request', 'say what to set: key and value, or raw', {
      field: 'key',
      hint: 'send { key, value, baseHash } or { raw, baseHash }',
    })
  if (baseHash === undefined) throw retry('the hash of what was read is missing')
  await config.load()
  refuseForbidden(raw ?? value)
  const next = key === undefined ? raw : (withValue(config.stored, stepsOf(key), value) ?? {})
  const checked = checkConfiguration(next, agents)
  if (checked.session?.store !== undefined)
    throw new RuntimeError('bad_request', 'session.store says where this is kept, so it cannot be kept there', {
      field: 'session.store',
      hint: 'say it where the node starts: --url, STATECAST_URL, or config.session.store of the app',
    })
  if (config.view.hash !== baseHash) throw retry('the configuration has changed since it was read')
  const before = refsIn(config.stored)
  await config.write(checked, baseHash, by)
  const warnings = await unusable(
    parts,
    [...refsIn(checked)].filter((ref) => !before.has(ref)),
  )
  return {
    hash: config.view.hash,
    ...definedOf({ warnings: warnings.length > 0 ? warnings : undefined }),
    ...(key === undefined ? {} : { key, value: valueAt(config.view.value, stepsOf(key)) ?? null }),
  }
}

/** As it is shown: nothing that could be used in its place. */
const shown = ({ hash: _, ...entry }: TokenEntry) => entry

export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex')

export const createToken = async (parts: RuntimeParts, { name, scopes, sessions, expiresInMs }: CommandInput<'tokens.create'>) => {
  const now = parts.environment.clock.now()
  const id = randomBytes(6).toString('hex')
  const token = `sct_${id}_${randomBytes(32).toString('base64url')}`
  const entry: TokenEntry = {
    id,
    name,
    hash: hashOfToken(token),
    scopes: withImplied(scopes),
    createdAt: now,
    ...definedOf({ sessions, expiresAt: expiresInMs === undefined ? undefined : now + expiresInMs }),
  }
  await changeTokens(parts, (tokens) => {
    if (tokens.some((one) => one.name === name))
      throw new RuntimeError('conflict', `there is a token '${name}'`, { field: 'name', hint: 'revoke it first, or choose another name' })
    return [...tokens, entry]
  })
  return { token, ...shown(entry) }
}

export const listTokens = async ({ tokens }: RuntimeParts) => {
  await tokens.load()
  return { tokens: (tokens.current.value.tokens ?? []).map(shown) }
}

export const revokeToken = async (parts: RuntimeParts, { id }: CommandInput<'tokens.revoke'>) => {
  let revoked: TokenEntry | undefined
  await changeTokens(parts, (tokens) => {
    revoked = tokens.find((one) => one.id === id || one.name === id)
    if (revoked === undefined) throw new RuntimeError('not_found', `there is no token '${id.slice(0, 80)}'`, { hint: 'see `statecast token list`' })
    return tokens.filter((one) => one !== revoked)
  })
  return { revoked: revoked?.id, name: revoked?.name }
}

const attemptMax = 5

/** Two who change the list at once both have their way. Tokens that are over go with the next change. */
const changeTokens = async ({ tokens, environment }: RuntimeParts, change: (tokens: TokenEntry[]) => TokenEntry[]): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    await tokens.load()
    const { value, hash } = tokens.current
    const now = environment.clock.now()
    try {
      await tokens.write({ tokens: change((value.tokens ?? []).filter(({ expiresAt = now + 1 }) => expiresAt > now)) }, hash)
      return
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code !== 'conflict' || error.field !== 'baseHash' || attempt >= attemptMax) throw error
    }
  }
}
