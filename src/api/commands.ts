/** Every command of `src/contracts/commands.ts`, carried out: the gateway, the command line and services all come through here. */

import type { Access } from '../contracts/access.ts'
import { type CommandInput, type CommandName, commands, isCommand } from '../contracts/commands.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { halfImportedError } from '../contracts/half-imported.ts'
import { isDamage } from '../contracts/lost-end.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { agentInKey } from '../contracts/session-key.rules.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { beingImported, type Head } from '../contracts/transport.ts'
import type { RuntimeParts, Session } from '../runtime/index.ts'
import { agentNamed, type ForkGate, forkActor, readFrames, readTrace, registered, whereToLook } from '../runtime/index.ts'
import { nearest } from '../tools/index.ts'
import { beginsHint, healthFor, noSession, permitted, readInput } from './access.ts'
import { allApprovals, approvalsOf, listActors, lookAt } from './actors.ts'
import { listAgents } from './agents.ts'
import { broughtCommand, broughtCommands } from './brought-commands.ts'
import { injectMessage } from './chat-inject.ts'
import { readOutput } from './chat-output.ts'
import { sendMessage } from './chat-send.ts'
import { createToken, getConfig, listTokens, revokeToken, setConfig } from './configuration.ts'
import { readCoverage } from './coverage.ts'
import { readEvents } from './events-read.ts'
import { listExtensions, reloadExtension } from './extensions.ts'
import { fileCommands } from './files.ts'
import { readHistory, readMessage } from './history/index.ts'
import { importFrames } from './import.ts'
import { chartsOf, readMoment, readSteps } from './inspection.ts'
import { parsePlace } from './place.ts'
import { createCapability } from './relay/index.ts'
import { abortRuns, waitForRun } from './runs.ts'
import { requireScope, scopeOf } from './scopes.ts'
import { listModels, patchSession, resolveSession } from './session-settings.ts'
import { describeSessions } from './session-titles.ts'
import { deleteSession, journalIsDamaged, listSessions } from './sessions.ts'
import { listSkills } from './skills.ts'
import { giveResults } from './tool-results.ts'
import { toolsList } from './tools.ts'
import { exportTrace } from './trace-export.ts'

type Handlers = { [Name in CommandName]: (parts: RuntimeParts, input: CommandInput<Name>, access?: Access) => unknown }

/** Asking after a session must not bring one into being. @throws RuntimeError not_found, conflict while it is being imported */
const existing = async (parts: RuntimeParts, key: string): Promise<Session> => {
  const session = parts.runtime.session(key)
  whole(session.address, await headOf(parts, session.address, noSession(key)))
  return session
}

/** @throws RuntimeError not_found, also where no machine of its kind is registered; conflict while it is being imported */
const existingActor = async (parts: RuntimeParts, { kind = 'session', id }: { kind?: string | undefined; id: string }): Promise<Address> => {
  registered(parts, kind)
  const address = { kind, id }
  whole(address, await headOf(parts, address, `there is no ${formatAddress(address)}`))
  return address
}

const whole = (address: Address, { wakeAt }: Head): void => {
  if (wakeAt === beingImported) throw halfImportedError(formatAddress(address))
}

const headOf = async (parts: RuntimeParts, address: Address, message: string): Promise<Head> => {
  const head = await parts.transport.journal.head(address)
  if (head) return head
  throw new RuntimeError('not_found', message, { hint: beginsHint(whereToLook(parts, address.kind)) })
}

const handlers: Handlers = {
  'chat.send': sendMessage,
  'tools.result': async (parts, input) => {
    await existing(parts, input.sessionKey)
    return giveResults(parts.runtime.session(input.sessionKey, { agent: input.agent }), input)
  },
  'chat.abort': async (parts, { sessionKey, runId }) => abortRuns(await existing(parts, sessionKey), runId),
  'chat.inject': async (parts, input) => injectMessage(await existing(parts, input.sessionKey), input),
  'chat.history': async (parts, input) => readHistory(parts, await existing(parts, input.sessionKey), input),
  'chat.message': async (parts, input) => readMessage(parts, await existing(parts, input.sessionKey), input),
  'chat.output': async (parts, input) => readOutput(parts, await existing(parts, input.sessionKey), input),
  ...fileCommands,
  'sessions.list': async (parts, { limit, details }, access) => ({
    sessions: details ? await describeSessions(parts, limit, access) : await listSessions(parts, limit, access),
  }),
  'sessions.get': async (parts, { sessionKey }) => lookAt(parts, await existing(parts, sessionKey)),
  'sessions.context': async (parts, { sessionKey }) => ({ sessionKey, ...(await (await existing(parts, sessionKey)).promptContext()) }),
  'sessions.reset': async (parts, { sessionKey, reason }) => {
    const { seq } = await (await existing(parts, sessionKey)).reset(reason)
    return { seq }
  },
  'sessions.compact': async (parts, { sessionKey }) => {
    const { seq } = await (await existing(parts, sessionKey)).compact()
    return { seq }
  },
  'sessions.configure': async (parts, { sessionKey, toggles }) => {
    return patchSession(parts, await existing(parts, sessionKey), toggles)
  },
  'sessions.patch': async (parts, { sessionKey, ...toggles }) => patchSession(parts, await existing(parts, sessionKey), toggles),
  'sessions.resolve': (parts, input) => resolveSession(parts, input),
  'sessions.clear': async (parts, { sessionKeys }) => {
    const cleared = { followups: 0, dropped: 0, lane: 0 }
    for (const key of new Set(sessionKeys)) {
      const session = await existing(parts, key).catch(noneOf)
      if (session === undefined) continue
      const { emitted } = await session.command({ type: 'clear' })
      const counts = emitted.find(({ type }) => type === 'cleared') as Extract<SessionOutput, { type: 'cleared' }> | undefined
      for (const what of ['followups', 'dropped', 'lane'] as const) cleared[what] += counts?.[what] ?? 0
    }
    return cleared
  },
  'sessions.delete': async (parts, { sessionKey }) => {
    const { address } = parts.runtime.session(sessionKey)
    // Also one of which only half was imported, or that is damaged: where its journal is gone, its snapshot is what says that it was there.
    const damaged = await journalIsDamaged(parts, address)
    if (!damaged) await headOf(parts, address, noSession(sessionKey))
    await deleteSession(parts, address)
    return { deleted: sessionKey }
  },
  'agent.wait': async (parts, { sessionKey, runId, timeoutMs }) => waitForRun(await existing(parts, sessionKey), runId, timeoutMs),
  'approvals.list': async (parts, { sessionKey }, access) => {
    if (sessionKey === undefined) return allApprovals(parts, access)
    return { approvals: await approvalsOf(parts, (await existing(parts, sessionKey)).key), runs: [], unreadable: [] }
  },
  'approvals.resolve': async (parts, { sessionKey, ...decision }) => {
    const { seq } = await (await existing(parts, sessionKey)).command({ type: 'approve', ...decision })
    return { seq }
  },
  'events.read': (parts, { kind = 'session', id, after, limit }) => {
    registered(parts, kind)
    return readEvents(parts, { kind, id }, { after: after === undefined ? undefined : parsePlace(after, 'after'), limit })
  },
  'trace.read': (parts, { kind = 'session', id, from, limit }) => readTrace(parts, { kind, id }, from, limit),
  'trace.spans': ({ traces }, { sessionKey, runId }) => ({
    runs: runId === undefined ? traces.list(sessionKey) : [traces.trace({ sessionKey, runId })],
  }),
  'trace.frames': (parts, { kind = 'session', id, from, limit }) => readFrames(parts, { kind, id }, from, limit),
  'trace.export': async (parts, input) => exportTrace(parts, await existingActor(parts, input)),
  'trace.import': (parts, { kind = 'session', id, frames, wakeAt }) => {
    registered(parts, kind)
    return importFrames(parts, { kind, id }, frames, wakeAt)
  },
  'trace.replay': async (parts, { kind = 'session', id, to }) => {
    // What stands before a damaged commit can be folded.
    await existingActor(parts, { kind, id }).catch((error: unknown) => {
      if (!isDamage(error)) throw error
    })
    return parts.runtime.replay({ kind, id }, to)
  },
  'trace.fork': async (parts, { kind = 'session', id, ...wanted }, access) => {
    const address = await existingActor(parts, { kind, id })
    parts.admit()
    // Nobody could send to it.
    const agent = kind === 'session' ? agentInKey(wanted.as, { agents: [...parts.agents.keys()] }) : undefined
    if (agent !== undefined) agentNamed(parts.agents, agent, 'as')
    const gate: ForkGate = (scope) => access && requireScope(access.scopes, scope, 'this fork')
    return forkActor(parts, parts.runtime.registration(kind), address, wanted, gate)
  },
  'machines.get': (parts, { kind = 'session' }) => chartsOf(parts, kind),
  'trace.moment': async (parts, { seq, texts, ...input }) => readMoment(parts, { address: await existingActor(parts, input), seq, texts }),
  'trace.steps': async (parts, { seq, texts, ...input }) => readSteps(parts, { address: await existingActor(parts, input), seq, texts }),
  'trace.relay': async (parts, { expiresInMs, ...input }, access) =>
    createCapability(parts, await existingActor(parts, input), { expiresInMs, access }),
  'trace.coverage': (parts, input, access) => {
    registered(parts, input.kind ?? 'session')
    return readCoverage(parts, input, access)
  },
  'actors.send': async (parts, { kind, id, event, input, messageId }) => {
    // A session's events are filled in with what its sender did not have to name.
    if (kind === 'session')
      return receiptOf(await parts.runtime.session(id).command(event.type === 'message' && messageId ? { id: messageId, ...event } : event))
    registered(parts, kind)
    return receiptOf(await parts.runtime.actor(kind, id, input).send(event, messageId === undefined ? {} : { id: messageId }))
  },
  'actors.get': async (parts, { kind, id }) => {
    await existingActor(parts, { kind, id })
    const actor = parts.runtime.actor(kind, id)
    return actor.snapshot()
  },
  'actors.revive': async (parts, { kind, id }) => {
    await existingActor(parts, { kind, id })
    const actor = parts.runtime.actor(kind, id)
    return { revived: await actor.revive() }
  },
  'actors.delete': async (parts, { kind, id }) => {
    parts.admit()
    const address = kind === 'session' ? parts.runtime.session(id).address : { kind, id }
    // Also one that is damaged, or whose machine is not registered: nothing of it is read.
    if (!(await journalIsDamaged(parts, address))) await headOf(parts, address, `there is no ${formatAddress(address)}`)
    if (kind === 'session') await deleteSession(parts, address)
    else await parts.directory.forget(address)
    return { deleted: formatAddress(address) }
  },
  'actors.list': (parts, input, access) => listActors(parts, input, access),
  'models.list': (parts) => listModels(parts),
  'config.get': (parts, input) => getConfig(parts, input),
  'config.set': (parts, input) => setConfig(parts, input),
  'tokens.create': (parts, input) => createToken(parts, input),
  'tokens.list': (parts) => listTokens(parts),
  'tokens.revoke': (parts, input) => revokeToken(parts, input),
  'tools.list': (parts, input) => toolsList(parts, input, (key) => existing(parts, key)),
  'skills.list': (parts, { sessionKey }) => listSkills(parts, sessionKey),
  'environments.list': async (parts) => ({ environments: await parts.skills.environments() }),
  'agents.list': (parts) => listAgents(parts),
  'extensions.list': (parts) => listExtensions(parts),
  'extensions.reload': (parts, input) => reloadExtension(parts, input),
  'nodes.list': (parts) => ({ nodes: parts.runtime.nodes() }),
  'nodes.drain': async (parts, { node }) => {
    await parts.runtime.drainNode(node)
    return { draining: node }
  },
  health: async (parts, _, access) => healthFor(await parts.runtime.health(), access),
}

/** Where nothing is, nothing waits. */
const noneOf = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}

const receiptOf = ({ seq, at, duplicate }: { seq: number; at: number; duplicate: boolean }) => ({ seq, at, duplicate })

/**
 * Carries out one command; what it answers is plain JSON.
 * @param access on whose behalf; default: somebody who may do everything
 * @throws RuntimeError not_found for a command that does not exist, bad_request or too_large naming the field, and whatever the command throws
 */
export const execute = async (parts: RuntimeParts, name: string, input: unknown, access?: Access): Promise<unknown> => {
  if (!isCommand(name)) {
    const brought = broughtCommand(parts, name)
    if (!brought) throw unknownCommand([...Object.keys(commands), ...Object.keys(broughtCommands(parts))], name)
    return await brought(input, access)
  }
  const handler = handlers[name] as (parts: RuntimeParts, input: unknown, access?: Access) => unknown
  // What it may do is asked first: who may not is not told what else is wrong.
  if (access) requireScope(access.scopes, scopeOf(name), name)
  const read = readInput(name, input, parts.runtime.keyOf)
  return await handler(parts, access ? await permitted(parts, name, read, access) : read, access)
}

const unknownCommand = (names: readonly string[], name: string): RuntimeError => {
  const near = nearest(name, names)
  return new RuntimeError('not_found', `there is no command '${name.slice(0, 80)}'`, {
    hint: near.length > 0 ? `did you mean ${near.join(', ')}?` : `there are: ${names.join(', ')}`,
  })
}
