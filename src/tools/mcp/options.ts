/** What an app says of its MCP servers, and an agent of those that it may use. */
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import { parseInput } from '../../contracts/parse.ts'
import { isRecord } from '../../contracts/record.rules.ts'
import { nearest } from '../nearest.ts'

/** Which calls a person is asked about: all, none, or those of tools that are not said to be read-only. */
type McpApproval = 'always' | 'never' | 'writes'

type Common = {
  /** Default `writes`. */
  approval?: McpApproval | undefined
  /** ms that one call may take; default 60,000. */
  timeoutMs?: number | undefined
  /** ms from its start until it has named its tools; default 15,000. */
  connectMs?: number | undefined
  /** Bytes of JSON that a result may have; default 1 MiB. */
  outputBytesMax?: number | undefined
  /** False leaves the server out, and its tools with it. Default true. */
  enabled?: boolean | undefined
}

/** A program on this machine. `${NAME}` in the values of `env` is the variable of this process. */
type McpProgram = Common & {
  command: string
  args?: readonly string[] | undefined
  /** All that it is given besides PATH, HOME and LANG. */
  env?: Readonly<Record<string, string>> | undefined
  /** Default: the working directory. */
  cwd?: string | undefined
}

/** A server at an address. `${NAME}` in the values of `headers` is the variable of this process. */
type McpAddress = Common & { url: string; headers?: Readonly<Record<string, string>> | undefined }

export type McpOptions = {
  /** By name; tools of `github` are called `github__…`. */
  servers?: Readonly<Record<string, McpProgram | McpAddress>> | undefined
  /** False leaves all MCP tools out. Default true. */
  enabled?: boolean | undefined
}

/** A name may not end where the name of a tool begins. */
const serverName = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/
const serverNameMax = 32

const common = {
  approval: z.enum(['always', 'never', 'writes']).default('writes'),
  timeoutMs: z.int().min(1).max(86_400_000).default(60_000),
  connectMs: z.int().min(1).max(600_000).default(15_000),
  outputBytesMax: z
    .int()
    .min(1)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024),
  enabled: z.boolean().default(true),
}
const texts = z.record(z.string(), z.string())
const Program = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: z.string().min(1).optional(),
  ...common,
})
const Address = z.strictObject({
  url: z.string().refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http address'),
  headers: texts.default({}),
  ...common,
})

export type McpSettings = z.infer<typeof Program> | z.infer<typeof Address>

const hint = 'each server is { command, args, env, cwd } or { url, headers }: see docs/guides/mcp.md'

/** @returns the servers that are not switched off, by name @throws RuntimeError bad_request, naming the field */
export const checkMcp = (given: McpOptions): Map<string, McpSettings> => {
  const { servers = {}, enabled = true } = parseInput(
    z.strictObject({ mcp: z.strictObject({ servers: z.record(z.string(), z.unknown()), enabled: z.boolean() }).partial() }),
    { mcp: given },
    hint,
  ).mcp
  const checked = new Map<string, McpSettings>()
  for (const [name, server] of Object.entries(servers)) {
    if (name.length > serverNameMax || !serverName.test(name))
      throw new RuntimeError('bad_request', `'${name.slice(0, 80)}' is not a name of an MCP server`, {
        field: `mcp.servers.${name.slice(0, 80)}`,
        hint: `use 1 to ${serverNameMax} letters, digits, - and single _, and none at the ends`,
      })
    const Settings: z.ZodType<McpSettings> = isRecord(server) && 'url' in server ? Address : Program
    const schema = z.object({ mcp: z.object({ servers: z.object({ [name]: Settings }) }) })
    const settings = parseInput(schema, { mcp: { servers: { [name]: server } } }, hint).mcp.servers[name] as McpSettings
    if ('url' in settings && (new URL(settings.url).username !== '' || new URL(settings.url).password !== ''))
      throw new RuntimeError('bad_request', `the address of the MCP server '${name}' holds a user or password, which ends up in logs`, {
        field: `mcp.servers.${name}.url`,
        hint: `write headers: { Authorization: 'Bearer \${NAME}' }, and leave them out of the address`,
      })
    if (enabled && settings.enabled) checked.set(name, settings)
  }
  return checked
}

/**
 * Which servers and tools an agent may use.
 * @param given `true` for all, or `github`, or `github/search_*` @param configured names of all servers, those that are switched off included
 * @throws RuntimeError bad_request for a server that is not there
 */
export const checkAllowed = (agent: string, given: true | readonly string[], configured: readonly string[]): void => {
  for (const pattern of given === true ? [] : given) {
    const [server = ''] = pattern.split('/')
    if (server.includes('*') || configured.includes(server)) continue
    const [near] = nearest(server, configured)
    throw new RuntimeError('bad_request', `agent '${agent}': there is no MCP server '${server.slice(0, 80)}'`, {
      field: `agents.${agent}.mcp`,
      hint: near
        ? `did you mean '${near}'?`
        : configured.length > 0
          ? `there are: ${configured.join(', ')}`
          : 'name it under mcp: { servers: { … } }',
    })
  }
}

/** `${NAME}` in texts of the configuration. @throws RuntimeError bad_request for a variable that is not set, without any value */
export const withVariables = (
  given: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string | undefined>>,
  field: string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).map(([name, text]) => [
      name,
      text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, variable: string) => {
        const value = env[variable]
        if (value !== undefined) return value
        throw new RuntimeError('bad_request', `${field}.${name} names the variable ${variable}, which is not set`, {
          field: `${field}.${name}`,
          hint: `set ${variable} in the environment of the node`,
        })
      }),
    ]),
  )
