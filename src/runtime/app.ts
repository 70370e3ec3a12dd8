/** `defineApp()`: the default export of an app file, checked where it is written. */
import { StateMachine } from 'xstate'
import { defaultLimits } from '../actors/index.ts'
import { SendRule } from '../contracts/channel.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type CredentialSource, credentialSources } from '../contracts/model.ts'
import { ModelReference } from '../contracts/model-ref.ts'
import { type Role, roles } from '../contracts/placement.ts'
import { isRecord } from '../contracts/record.rules.ts'
import { ToolPolicy } from '../contracts/tool-policy.ts'
import { nearest } from '../tools/index.ts'
import type { Machines } from './interface.ts'
import type { RuntimeOptions } from './options.ts'

/** Every option with the shape that it must have, as a person would say it. */
const options: Record<keyof RuntimeOptions, [fits: (value: unknown) => boolean, shape: string]> = {
  agents: [(value) => Array.isArray(value) && value.every(isAgent), 'a list of what agent({ … }) returns'],
  machines: [(value) => isRecord(value) && Object.values(value).every(isMachine), 'machines of setup(…).createMachine(…) by name'],
  models: [(value) => isRecord(value) && Object.values(value).every(isModel), 'models by reference'],
  credentials: [(value) => isRecord(value) && Object.values(value).every(Array.isArray), 'lists of { id, type, value } by provider'],
  config: [isRecord, 'an object with the keys of docs/reference/configuration.md'],
  credentialOrder: [
    (value) =>
      Array.isArray(value) && value.every((one) => credentialSources.includes(one as CredentialSource)) && new Set(value).size === value.length,
    `a list of ${credentialSources.join(', ')}, each once`,
  ],
  credentialStore: [isText, 'the path of a file'],
  extensions: [
    (value) => Array.isArray(value) && value.every((one) => isText(one) || (isRecord(one) && isText(one.name))),
    "a list of extensions, such as chat({ … }) of statecast/chat, or of paths such as './plugin.mjs'",
  ],
  channels: [
    // What is wrong with which of them is said when they are taken in.
    (value) => Array.isArray(value) && value.every(isRecord),
    'a list of channel adapters',
  ],
  fallbacks: [
    (value) => Array.isArray(value) && value.every((ref) => ModelReference.safeParse(ref).success),
    'a list of model references, each provider/model-id',
  ],
  sendPolicy: [
    (value) => Array.isArray(value) && value.every((rule) => SendRule.safeParse(rule).success),
    "a list of { action: 'deny', channel, chatType, keyPrefix }",
  ],
  toolPolicy: [
    (value) => ToolPolicy.safeParse(value).success,
    'rules for tools: { allow, deny, alsoAllow, profile, providers, channels, groups, sandbox, subAgents }, see docs/guides/tools.md',
  ],
  lanes: [
    (value) => isRecord(value) && Object.values(value).every((limit) => Number.isInteger(limit) && (limit as number) > 0),
    'whole numbers above 0 by name',
  ],
  transport: [
    (value) => isText(value) || (isRecord(value) && isRecord(value.journal)),
    "'embedded:<folder>', 'memory:', 'nats://host:port' or an open transport",
  ],
  nats: [isRecord, 'an object: what the NATS client takes'],
  replicas: [(value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 5, 'a whole number from 1 to 5'],
  redaction: [
    (value) =>
      isRecord(value) &&
      Object.entries(value).every(([name, list]) => ['keep', 'redact'].includes(name) && Array.isArray(list) && list.every((one) => isText(one))),
    "{ keep: ['refund.ask.currency'], redact: ['refund.*.customer'] }, lists of places",
  ],
  retention: [(value) => isRecord(value) && typeof value.idleDays === 'number', '{ idleDays: a number above 0 }'],
  history: [
    (value) => isRecord(value) && Object.entries(value).every(([name, most]) => isHistoryLimit(name, most)),
    '{ bytesMax: 1,024 or more }, a whole number; how many messages, config: { session: { historyMax } } says',
  ],
  uploads: [
    (value) =>
      isRecord(value) &&
      Object.entries(value).every(([name, most]) => ['bytesPerToken', 'bytesMax'].includes(name) && Number.isInteger(most) && (most as number) > 0),
    '{ bytesPerToken, bytesMax }, whole numbers above 0',
  ],
  onDrift: [(value) => value === 'refuse' || value === 'force', "'refuse' or 'force'"],
  checkDeterminism: [(value) => ['off', 'sample', 'always'].includes(value as string), "'sample', 'always' or 'off'"],
  prompt: [isRecord, "{ files: ['AGENTS.md'] }, and what else the option `prompt` of agent() takes"],
  workspace: [isText, 'the path of a folder'],
  skills: [(value) => value === false || isRecord(value), '{ directories, bundled, entries, … }, or false for none'],
  environment: [isRecord, 'parts of an Environment'],
  limits: [
    (value) => isRecord(value) && Object.entries(value).every(isLimit),
    `numbers by name, not below 0, of ${Object.keys(defaultLimits).join(', ')}`,
  ],
  prefix: [isText, 'the first token of all subjects'],
  owner: [(value) => isRecord(value) && Object.values(value).every((text) => typeof text === 'string'), 'texts by name'],
  resume: [(value) => typeof value === 'boolean', 'true or false'],
  mcp: [isRecord, '{ servers: { github: { command, args, env } or { url, headers } } }'],
  placement: [(value) => value === 'beside' || value === 'distributed', "'beside' or 'distributed'"],
  agentProtocol: [(value) => isRecord(value) && typeof value.owner === 'string', "{ owner: 'alice' }, with names: ['main'] if only these"],
  roles: [
    (value) => Array.isArray(value) && value.length > 0 && value.every((role) => roles.includes(role as Role)),
    `a list of one or more of ${roles.join(', ')}`,
  ],
}

/**
 * Options of a runtime, for `createRuntime` and as the default export of `statecast.config.ts`.
 * @throws RuntimeError bad_request, naming the option and what is allowed
 */
export const defineApp = <Registered extends Machines = Machines>(app: RuntimeOptions<Registered>): RuntimeOptions<Registered> => {
  if (!isRecord(app)) throw refused('app', 'an app is an object of options', 'write defineApp({ agents: [agent({ name: … })] })')
  for (const [name, value] of Object.entries(app)) {
    const known = Object.hasOwn(options, name) ? options[name as keyof RuntimeOptions] : undefined
    if (!known) throw refused(name, `an app has no option '${name.slice(0, 80)}'`, meantBy(name))
    const [fits, shape] = known
    if (value !== undefined && !fits(value)) throw refused(name, `the option '${name}' does not fit`, misplaced(name, value) ?? `it is ${shape}`)
  }
  return app
}

const ladderHint = 'name them in extensions: [ladder({ executables: [ … ] })] of statecast/ladder'

/** What others call the place where the data is. */
const placeNames = new Set(['store', 'storage', 'database', 'db', 'url', 'path', 'checkpointer'])

const meantBy = (name: string): string => {
  if (name === 'executables') return ladderHint
  if (placeNames.has(name)) return "where the data is, the option `transport` says: 'embedded:<folder>', 'memory:' or 'nats://host:port'"
  const [near] = nearest(name, Object.keys(options))
  return near ? `did you mean '${near}'?` : `there are: ${Object.keys(options).join(', ')}`
}

/** Two packages have an `agent()`, and an extension is easily named without being called. */
const misplaced = (option: string, value: unknown): string | undefined => {
  const all: readonly unknown[] = Array.isArray(value) ? value : []
  if (option === 'agents' && all.some((one) => isRecord(one) && typeof one.execute === 'function'))
    return `agents of 'statecast' talk in sessions, those of 'statecast/ladder' have runs: ${ladderHint}`
  const uncalled = option === 'extensions' ? all.find((one) => typeof one === 'function') : undefined
  return uncalled && `call it: extensions: [${uncalled.name}({ … })]`
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Whether it can be called shows when it is. */
const isModel = (value: unknown): boolean => ['function', 'object', 'undefined'].includes(typeof value) && value !== null

/** With none of these no message would be taken in, and none kept. */
const leastOne = new Set(['queueMax', 'snapshotEvery'])
const isHistoryLimit = (name: string, most: unknown): boolean => name === 'bytesMax' && Number.isInteger(most) && (most as number) >= 1024
const isLimit = ([name, value]: [string, unknown]): boolean =>
  Object.hasOwn(defaultLimits, name) && (value === undefined || (typeof value === 'number' && value >= (leastOne.has(name) ? 1 : 0)))

/** What agent() made: it has filled in what the author left out. */
const isAgent = (value: unknown): boolean =>
  isRecord(value) &&
  [value.name, value.instructions].every((text) => typeof text === 'string') &&
  [value.profile, value.limits, value.settings].every(isRecord) &&
  Array.isArray(value.tools)

// By shape too: the author's package may have a copy of XState of its own.
const isMachine = (value: unknown): boolean =>
  value instanceof StateMachine || (isRecord(value) && ('machine' in value ? isMachine(value.machine) : 'config' in value && 'root' in value))

const refused = (field: string, message: string, hint: string): RuntimeError => new RuntimeError('bad_request', message, { field, hint })
