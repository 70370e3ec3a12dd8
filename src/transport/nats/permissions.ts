/** Which permissions each role needs on a NATS server, as users for its configuration; and which of them a connection lacks. */

import type { NatsConnection } from '@nats-io/transport-node'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import { instanceName } from '../../contracts/tool.ts'
import { fromNats, violationIn } from './errors.ts'
import { type Names, namesOf } from './names.ts'

/** `node` runs sessions and the commands that read or write journals; `gateway` is a client of nodes; `tool` serves the tools of one service; `viewer` listens. */
export const roles = ['node', 'gateway', 'tool', 'viewer'] as const
export type Role = (typeof roles)[number]
/** A user: of a role, or of the service whose tools it serves. One service must not hear the requests to another. */
export type User = Exclude<Role, 'tool'> | { service: string }

export type Permissions = {
  publish: readonly string[]
  subscribe: readonly string[]
  /** It answers requests, on the reply subject that each names. */
  answers: boolean
}

/** `node`, `tool_weather`, … */
export const nameOf = (user: User): string => (typeof user === 'string' ? user : `tool_${user.service}`)
/** Each user has a prefix of its own for answers, so that no user reads the answers to another's requests. */
export const inboxPrefixOf = (user: User): string => `_INBOX_${nameOf(user)}`
/** Where the server finds its password. */
export const passwordOf = (user: User): string => `STATECAST_${nameOf(user).toUpperCase().replaceAll('-', '_')}_PASSWORD`

/** Answered by the server itself: what a user may do. */
const userInfo = '$SYS.REQ.USER.INFO'

/** Some commands answer when a turn has ended. */
const answerWithin = '2h'

/** @param prefix of all subjects, as in the app @throws RuntimeError bad_request: a service whose name is no single token */
export const permissionsOf = (user: User, prefix = 'statecast'): Permissions => {
  const inbox = `${inboxPrefixOf(user)}.>`
  if (typeof user !== 'string') return { ...ofService(checkService(user.service), prefix, inbox), answers: true }
  switch (user) {
    case 'node': {
      const { must, may } = neededByNode(namesOf(prefix))
      return { publish: [...must.publish, ...may.publish, userInfo], subscribe: [...must.subscribe, ...may.subscribe, inbox], answers: true }
    }
    case 'gateway':
      return {
        publish: [`${prefix}.api.>`, `${prefix}.in.*.*`, ...agentPrompts, `${prefix}.answer.*`, ...asked, userInfo],
        subscribe: [`${prefix}.out.>`, agentHeartbeats, inbox],
        answers: false,
      }
    case 'viewer':
      return { publish: [...asked, userInfo], subscribe: [`${prefix}.out.>`, `${prefix}.inspect.>`, inbox], answers: false }
  }
}

const checkService = (service: string): string => {
  if (typeof service === 'string' && instanceName.test(service)) return service
  throw new RuntimeError('bad_request', `'${String(service).slice(0, 80)}' is not a valid service name`, {
    field: 'service',
    hint: 'name the service as its tools are announced: letters, digits, _ and -',
  })
}

/** A service answers requests on its own subjects, and introduces itself to clients that ask all services, or this one. */
const ofService = (service: string, prefix: string, inbox: string): Omit<Permissions, 'answers'> => ({
  publish: [userInfo],
  subscribe: [
    ...[`${prefix}.tools.${service}`, `${prefix}.tool.${service}`].flatMap((subject) => [subject, `${subject}.>`]),
    `${prefix}.cancel.${service}.*`,
    ...['PING', 'INFO', 'STATS'].flatMap((verb) => [`$SRV.${verb}`, `$SRV.${verb}.${service}`, `$SRV.${verb}.${service}.*`]),
    inbox,
  ],
})

/** Of the agent protocol, whose subjects have no prefix of ours. */
const agentPrompts = ['agents.prompt.>', 'agents.status.>']
const agentHeartbeats = 'agents.hb.>'

/** The subjects on which a client asks which services there are. */
const asked = ['$SRV.PING', '$SRV.PING.>', '$SRV.INFO', '$SRV.INFO.>', '$SRV.STATS', '$SRV.STATS.>']

type Needed = Record<'publish' | 'subscribe', string[]>

/** @returns what every node needs, and what only some do: a node whose streams exist makes none */
const neededByNode = ({ prefix, streams, bucket }: Names): { must: Needed; may: Needed } => {
  const registry = `KV_${bucket}`
  const all = [...Object.values(streams), registry]
  const consumed = [streams.inbox, streams.wakes, registry]
  const below = (...parts: string[]) => parts.map((part) => `${prefix}.${part}.>`)
  return {
    must: {
      publish: [
        ...below('in', 'out', 'journal', 'snapshot', 'wake', 'dead', 'blob', 'node', 'work', 'api'),
        `$KV.${bucket}.>`,
        '$JS.API.INFO',
        ...all.flatMap((stream) => [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.MSG.GET.${stream}`, `$JS.API.DIRECT.GET.${stream}`]),
        ...[streams.journal, streams.snapshots, streams.wakes].map((stream) => `$JS.API.STREAM.PURGE.${stream}`),
        ...consumed.flatMap((stream) => [
          `$JS.API.CONSUMER.CREATE.${stream}.>`,
          // For a consumer with several filters.
          `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.>`,
          `$JS.API.CONSUMER.INFO.${stream}.>`,
          `$JS.API.CONSUMER.MSG.NEXT.${stream}.>`,
          `$JS.ACK.${stream}.>`,
        ]),
      ],
      subscribe: below('api', 'node', 'out', 'work'),
    },
    may: {
      publish: [
        ...below('tool', 'tools', 'cancel', 'inspect'),
        agentHeartbeats,
        ...asked,
        '$JS.API.STREAM.NAMES',
        ...all.map((stream) => `$JS.API.STREAM.CREATE.${stream}`),
        ...[streams.inbox, streams.dead, streams.blobs, registry].map((stream) => `$JS.API.STREAM.PURGE.${stream}`),
        ...consumed.map((stream) => `$JS.API.CONSUMER.DELETE.${stream}.>`),
      ],
      subscribe: [...below('inspect'), ...agentPrompts, `${prefix}.answer.*`, '$SRV.>'],
    },
  }
}

/** Users for the configuration of nats-server. Passwords come from its environment: `STATECAST_NODE_PASSWORD`. @throws as {@link permissionsOf} */
export const serverConfig = (which: readonly User[], prefix?: string): string =>
  ['authorization {', '  users: [', ...which.flatMap((user) => userConfig(user, permissionsOf(user, prefix))), '  ]', '}', ''].join('\n')

const userConfig = (user: User, { publish, subscribe, answers }: Permissions): string[] => [
  '    {',
  `      user: ${nameOf(user)}`,
  `      password: $${passwordOf(user)}`,
  '      permissions: {',
  ...listOf('publish', publish),
  ...listOf('subscribe', subscribe),
  ...(answers ? [`        allow_responses: { max: -1, expires: "${answerWithin}" }`] : []),
  '      }',
  '    }',
]

const listOf = (name: string, subjects: readonly string[]): string[] => [
  `        ${name}: [`,
  ...subjects.map((subject) => `          "${subject}"`),
  '        ]',
]

/** As the server reports it; a missing list allows everything. */
type Rules = { allow?: string[]; deny?: string[] }
/** `serverTime` as the server answered, ISO 8601. */
type Granted = { user?: string; publish?: Rules; subscribe?: Rules; serverTime?: string }

/** @returns undefined where the server does not say @throws RuntimeError forbidden: it may not even be answered */
export const grantedTo = async (nc: NatsConnection): Promise<Granted | undefined> => {
  try {
    const answer = await nc.request(userInfo, '', { timeout: 2_000 })
    const { data, server } = answer.json<{ data?: { user?: string; permissions?: Granted }; server?: { time?: string } }>()
    if (data === undefined) return undefined
    return { ...definedOf({ user: data.user || undefined }), ...data.permissions, ...definedOf({ serverTime: server?.time || undefined }) }
  } catch (error) {
    if (violationIn(error)?.operation === 'subscription') throw fromNats(error, 'connecting')
    return undefined
  }
}

/** Subjects, with their wildcards, that a node needs and this user may not use. */
export const missingTo = (granted: Granted, names: Names): Needed => {
  const { must } = neededByNode(names)
  const missing = (needed: string[], rules: Rules = {}) => needed.filter((subject) => !isAllowed(subject, rules))
  return { publish: missing(must.publish, granted.publish), subscribe: missing(must.subscribe, granted.subscribe) }
}

/** @throws RuntimeError forbidden, naming what is missing; a server that does not report permissions refuses later, on use */
export const requirePermissions = async (nc: NatsConnection, names: Names): Promise<void> => {
  const granted = await grantedTo(nc)
  if (granted === undefined) return
  const missing = missingTo(granted, names)
  if (missing.publish.length + missing.subscribe.length > 0) throw missingError(missing, names, granted)
}

const shownMax = 3

const missingError = (missing: Needed, { prefix }: Names, { user }: Granted): RuntimeError => {
  const shown = (['publish', 'subscribe'] as const).flatMap((operation) => {
    const subjects = missing[operation]
    if (subjects.length === 0) return []
    const more = subjects.length > shownMax ? ` and ${subjects.length - shownMax} more` : ''
    return [`may not ${operation} to ${subjects.slice(0, shownMax).join(', ')}${more}`]
  })
  return new RuntimeError('forbidden', `the user${user ? ` '${user}'` : ''} of the NATS server ${shown.join(', and ')}`, {
    field: 'url',
    hint: `give it what \`statecast permissions --role node${prefix === 'statecast' ? '' : ` --prefix ${prefix}`}\` prints`,
    data: { missing },
  })
}

const isAllowed = (subject: string, { allow, deny = [] }: Rules): boolean =>
  (allow === undefined || allow.length === 0 || allow.some((pattern) => covers(pattern, subject))) && !deny.some((pattern) => meet(pattern, subject))

/** Whether every subject of the first pattern is one of the second. A permission for queues ends with the name of its queue. */
const covers = (pattern: string, subject: string): boolean => {
  const [wide, narrow] = [tokensOf(pattern), tokensOf(subject)]
  for (const [index, token] of wide.entries()) {
    if (token === '>') return narrow.length > index
    const other = narrow[index]
    if (other === undefined || other === '>' || (token !== '*' && token !== other)) return false
  }
  return wide.length === narrow.length
}

/** Whether some subject belongs to both patterns. */
const meet = (pattern: string, subject: string): boolean => {
  const [one, other] = [tokensOf(pattern), tokensOf(subject)]
  for (let index = 0; ; index++) {
    const [left, right] = [one[index], other[index]]
    if (left === undefined || right === undefined) return left === right
    if (left === '>' || right === '>') return true
    if (left !== '*' && right !== '*' && left !== right) return false
  }
}

const tokensOf = (subject: string): string[] => (subject.split(' ')[0] as string).split('.')
