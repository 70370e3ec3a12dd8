/** What a token allows: which scopes, and which sessions. */
import { z } from 'zod'
import { type GatewayScope, gatewayScopes } from './gateway.ts'
import { wildcard } from './wildcard.ts'

export const Scopes = z.array(z.enum(gatewayScopes)).min(1).max(gatewayScopes.length)
const SessionPattern = z.string().min(1).max(1024)

/** A token as it is kept: of its secret only the hash. Times are ms since the epoch. */
export const TokenEntry = z.strictObject({
  id: z.string().regex(/^[a-z0-9]{1,32}$/),
  name: z.string().min(1).max(100),
  hash: z.string().length(64),
  scopes: Scopes,
  sessions: z.array(SessionPattern).min(1).max(100).optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
})
export type TokenEntry = z.infer<typeof TokenEntry>

/** On whose behalf something is done. Where there is none, everything is allowed. */
export type Access = {
  /** Of the token. */
  id: string
  scopes: readonly GatewayScope[]
  /** Keys of its sessions, in which `*` stands for anything; left out where it may reach all. */
  sessions?: readonly string[] | undefined
}

/** Conversations that the OpenAI-compatible door begins for a token that is bound to sessions: its own, whatever its patterns are. */
export const ownKeys = ({ id }: Pick<Access, 'id'>): string => `v1:${id}:`

/** @param key in its canonical form */
export const reaches = (access: Access | undefined, key: string): boolean =>
  access?.sessions === undefined || key.startsWith(ownKeys(access)) || access.sessions.some((pattern) => wildcard(pattern)(key))
