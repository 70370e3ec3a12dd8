/** `statecast token`: tokens that open the doors of nodes, for some scopes and sessions. */
import type { TokenEntry } from '../contracts/access.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { GatewayScope } from '../contracts/gateway.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printJson } from './output.ts'
import { printTable } from './table.ts'

type Shown = Omit<TokenEntry, 'hash'>
type CreateOptions = Globals & { name: string; scopes: string; sessions?: string; expires?: string }

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** @throws RuntimeError bad_request */
export const msIn = (text: string): number => {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * units[unit as keyof typeof units]
  throw new RuntimeError('bad_request', `'${text.slice(0, 40)}' is no time`, {
    field: 'expires',
    hint: 'write minutes, hours or days: 90m, 12h, 30d',
  })
}
/** What is none of ours the node refuses, by its name. */
const listIn = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)

export const tokenCreate = async (options: CreateOptions): Promise<number> => {
  const { name, scopes, sessions, expires } = options
  const client = await connect(options)
  try {
    const made = await client.command<Shown & { token: string }>('tokens.create', {
      name,
      scopes: listIn(scopes) as GatewayScope[],
      ...definedOf({
        sessions: sessions === undefined ? undefined : listIn(sessions),
        expiresInMs: expires === undefined ? undefined : msIn(expires),
      }),
    })
    if (options.json) printJson(made)
    else {
      print(made.token)
      note('keep it: it is not shown again')
    }
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

export const tokenList = async (options: Globals): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const { tokens } = await client.command<{ tokens: Shown[] }>('tokens.list', {})
    if (options.json) tokens.forEach(printJson)
    else if (tokens.length === 0) note('no tokens but that of the node')
    else printTable(['NAME', 'ID', 'SCOPES', 'SESSIONS', 'EXPIRES'], tokens.map(cells))
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

const cells = ({ name, id, scopes, sessions, expiresAt }: Shown): string[] => [
  printable(name),
  id,
  scopes.join(','),
  printable(sessions?.join(', ') ?? 'all'),
  expiresAt === undefined ? 'never' : new Date(expiresAt).toISOString(),
]

export const tokenRevoke = async (options: Globals, name: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    const revoked = await client.command<{ name: string }>('tokens.revoke', { id: name })
    if (options.json) printJson(revoked)
    else print(`${printable(revoked.name)} opens nothing any more`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}
