/**
 * Keys of sessions: `agent:<agentId>:<channel>:<sessionId>`. A key that does not look like that is a name of its own, and stays as it is. Pure.
 *
 * | written                                                         | means                                     |
 * | --------------------------------------------------------------- | ----------------------------------------- |
 * | `agent:<id>:main`, `agent:<id>:web:main`, `agent:<id>:web:default` | the main conversation of the agent     |
 * | `<id>:web:main`, where an agent has that id                     | the same as with `agent:` before it       |
 * | `main`                                                          | the main conversation of the first agent  |
 *
 * Where no agent is called `main`, that id stands for the first one.
 */
import type { SessionScope } from './configuration.ts'
import { RuntimeError } from './errors.ts'
import type { Origin } from './reply.ts'

const agentId = /^[a-z0-9_-]{1,64}$/
const main = 'main'

/** @property agents names of those that there are, the default one first */
type Known = { agents: readonly string[] }

const standsForFirst = (id: string, { agents }: Known): boolean => id === main && !agents.some((name) => name.toLowerCase() === main)

const refused = (key: string, why: string): RuntimeError =>
  new RuntimeError('bad_request', `'${key.slice(0, 80)}' ${why}`, {
    field: 'sessionKey',
    hint: 'write agent:<agentId>:<channel>:<sessionId>, with an agent id of a-z, 0-9, _ and -, such as agent:main:web:main',
  })

/** @throws RuntimeError bad_request for a key that begins with `agent:` and does not go on as it should */
const partsOf = (key: string, { agents }: Known): { agent: string; rest: string[] } | undefined => {
  const parts = key.split(':')
  if (parts[0] === 'agent') {
    const [, id = '', ...rest] = parts
    if (!agentId.test(id.toLowerCase())) throw refused(key, 'names no agent that can be')
    if (rest.length === 0 || rest.some((part) => part === '')) throw refused(key, 'names no session')
    return { agent: id.toLowerCase(), rest }
  }
  const [id = '', channel = '', session = '', ...more] = parts
  const isShort = more.length === 0 && session !== '' && agentId.test(channel) && (agents.some((name) => name.toLowerCase() === id) || id === main)
  return isShort ? { agent: id, rest: [channel, session] } : undefined
}

/** The one key of a session by whatever name it is called. @throws RuntimeError bad_request */
export const canonicalKey = (key: string, known: Known): string => {
  const parts = partsOf(key, known)
  if (parts === undefined) return key
  const { agent, rest } = parts
  const [channel, session] = rest
  const isMain = (rest.length === 1 && channel === main) || (rest.length === 2 && channel === 'web' && (session === main || session === 'default'))
  if (!isMain) return `agent:${agent}:${rest.join(':')}`
  return known.agents[0]?.toLowerCase() === agent || standsForFirst(agent, known) ? main : `agent:${agent}:${main}`
}

/** The channel that a conversation belongs to; undefined for a shared one, such as `main`. */
export const channelInKey = (key: string): string | undefined => /^agent:[^:]+:([^:]+):/.exec(key)?.[1]

/** The name of the agent that a key names; undefined for a key that names none. */
export const agentInKey = (key: string, known: Known): string | undefined => {
  const id = key.startsWith('agent:') ? partsOf(key, known)?.agent : undefined
  if (id === undefined) return undefined
  return standsForFirst(id, known) ? known.agents[0] : (known.agents.find((name) => name.toLowerCase() === id) ?? id)
}

/** The session that this one is a thread of, as its key says. */
export const parentInKey = (key: string): string | undefined => /^(agent:.+):(?:thread|topic):[^:]+$/.exec(key)?.[1]

type KeyWish = {
  agent: string
  scope?: SessionScope
  /** By a name of our own, who somebody is on channels: `telegram:123`. */
  identityLinks?: Readonly<Record<string, readonly string[]>>
  /** Whether groups there call a thread a topic. */
  topics?: boolean
}

/** What could end a part of the key, or its own encoding. */
const part = (text: string): string => text.toLowerCase().replace(/[%:\s\p{C}]/gu, (character) => encodeURIComponent(character))

/** The key of the conversation that a message of a channel belongs to: the same for the same people at the same place, whenever it is asked for. */
export const keyForOrigin = (origin: Origin, { agent, scope = 'main', identityLinks = {}, topics = false }: KeyWish): string => {
  const { channel, account = 'default', to, thread, chatType = 'direct', sender } = origin
  const begin = `agent:${agent.toLowerCase()}`
  const suffix = thread === undefined ? '' : `:${topics ? 'topic' : 'thread'}:${part(thread)}`
  if (chatType !== 'direct' && (chatType === 'group' || sender !== undefined))
    return `${begin}:${part(channel)}:${chatType === 'group' ? 'group' : 'channel'}:${part(to)}${suffix}`
  const person = sender ?? to
  const names = [`${channel}:${person}`, person].map((name) => name.toLowerCase())
  const linked = Object.entries(identityLinks).find(([, known]) => known.some((name) => names.includes(name.toLowerCase())))?.[0]
  const peer = part(linked ?? person)
  switch (scope) {
    case 'main':
      return `${begin}:${main}${suffix}`
    case 'per-peer':
      return `${begin}:direct:${peer}${suffix}`
    case 'per-channel-peer':
      return `${begin}:${part(channel)}:direct:${peer}${suffix}`
    default:
      return `${begin}:${part(channel)}:${part(account)}:direct:${peer}${suffix}`
  }
}

/** Conversations of jobs and hooks are their own; a tab of an agent has its name, and a new chat is like no other. */
export const keyForWork = (agent: string, kind: 'job' | 'hook', id: string): string => `agent:${agent.toLowerCase()}:${kind}:${part(id)}`
export const keyForTab = (agent: string, id: string = agent): string => `agent:${agent.toLowerCase()}:web:${part(id)}`

/** A session in which another agent works: its key has the part `sub-agent`. */
export const isSubAgent = (key: string): boolean => key.split(/[:/]/).includes('sub-agent')
