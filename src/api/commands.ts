/** Every command of `src/contracts/commands.ts`, carried out: the gateway, the command line and services all come through here. */

import { randomUUID } from 'node:crypto'
import { halfImportedError } from '../actors/index.ts'
import { type CommandInput, type CommandName, commands, isCommand } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { isDamage } from '../contracts/lost-end.ts'
import { parseInput } from '../contracts/parse.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { beingImported, type Head } from '../contracts/transport.ts'
import type { Outcome, Parts, RuntimeParts, Session } from '../runtime/index.ts'
import { readFrames, readTrace, registered, whereToLook } from '../runtime/index.ts'
import { nearest } from '../tools/index.ts'
import { allApprovals, approvalsOf, listActors } from './actors.ts'
import { readEvents } from './events-read.ts'
import { readHistory, readMessage } from './history/index.ts'
import { importFrames } from './import.ts'
import { parsePlace } from './place.ts'
import { cleanMessage } from './said.rules.ts'
import { describeSessions } from './session-titles.ts'
import { deleteSession, journalIsDamaged, listSessions } from './sessions.ts'

type Handlers = { [Name in CommandName]: (parts: RuntimeParts, input: CommandInput<Name>) => unknown }

/** Asking after a session must not bring one into being. @throws RuntimeError not_found, conflict while it is being imported */
const existing = async (parts: RuntimeParts, key: string): Promise<Session> => {
  const session = parts.runtime.session(key)
  whole(session.address, await headOf(parts, session.address, noSession(key)))
  return session
}

const noSession = (key: string): string => `there is no session '${key.slice(0, 80)}'`

const existingActor = async (parts: RuntimeParts, address: Address): Promise<void> =>
  whole(address, await headOf(parts, address, `there is no ${formatAddress(address)}`))

const whole = (address: Address, { wakeAt }: Head): void => {
  if (wakeAt === beingImported) throw halfImportedError(formatAddress(address))
}

const headOf = async (parts: RuntimeParts, address: Address, message: string): Promise<Head> => {
  const head = await parts.transport.journal.head(address)
  if (head) return head
  throw new RuntimeError('not_found', message, { hint: `it begins with its first message; ${whereToLook(parts, address.kind)}` })
}

const handlers: Handlers = {
  'chat.send': async (parts, { sessionKey, message, idempotencyKey, agent, model, ...more }) => {
    const session = parts.runtime.session(sessionKey, { agent })
    const text = cleanMessage(message)
    // A reference that no provider knows would only be noticed in the turn, when the sender may be gone.
    if (model !== undefined) await parts.models.get(model)
    const id = idempotencyKey ?? `m-${randomUUID()}`
    const { emitted, duplicate, seq } = await session.command({
      type: 'message',
      text,
      id,
      ...definedOf({ model, ...more }),
    })
    if (duplicate) return { id, runId: id, seq, duplicate, ...(await endOf(session, id)) }
    const accepted = emitted.find(({ type }) => type === 'accepted') as Extract<SessionOutput, { type: 'accepted' }> | undefined
    const skipped = emitted.find(({ type }) => type === 'skipped') as Extract<SessionOutput, { type: 'skipped' }> | undefined
    return { id, runId: accepted?.runId || id, status: accepted?.status ?? skipped?.reason ?? 'queued', seq }
  },
  'chat.abort': async (parts, { sessionKey, runId }) => abortRuns(await existing(parts, sessionKey), runId),
  'chat.history': async (parts, input) => readHistory(parts, await existing(parts, input.sessionKey), input),
  'chat.message': async (parts, input) => readMessage(parts, await existing(parts, input.sessionKey), input),
  'sessions.list': async (parts, { limit, details }) => ({
    sessions: details ? await describeSessions(parts, limit) : await listSessions(parts, limit),
  }),
  'sessions.get': async (parts, { sessionKey }) => (await existing(parts, sessionKey)).view(),
  'sessions.reset': async (parts, { sessionKey, reason }) => {
    const { seq } = await (await existing(parts, sessionKey)).reset(reason)
    return { seq }
  },
  'sessions.compact': async (parts, { sessionKey }) => {
    const { seq } = await (await existing(parts, sessionKey)).compact()
    return { seq }
  },
  'sessions.configure': async (parts, { sessionKey, toggles }) => {
    if (toggles.model) await parts.models.get(toggles.model)
    const { seq } = await (await existing(parts, sessionKey)).configure(toggles)
    return { seq }
  },
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
  'agent.wait': async (parts, { sessionKey, runId, timeoutMs }) => {
    const session = await existing(parts, sessionKey)
    try {
      return withoutType(await session.wait(runId, timeoutMs))
    } catch (error) {
      // How a turn failed is an outcome too; only what kept us from learning it is an error of this command.
      return await failedOutcome(session, runId, error)
    }
  },
  'approvals.list': async (parts, { sessionKey }) => {
    if (sessionKey === undefined) return allApprovals(parts)
    return { approvals: await approvalsOf(parts, (await existing(parts, sessionKey)).key), unreadable: [] }
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
  'trace.frames': (parts, { kind = 'session', id, from, limit }) => readFrames(parts, { kind, id }, from, limit),
  'trace.import': (parts, { kind = 'session', id, frames, wakeAt }) => {
    registered(parts, kind)
    return importFrames(parts.transport, { kind, id }, frames, wakeAt)
  },
  'trace.replay': async (parts, { kind = 'session', id, to }) => {
    registered(parts, kind)
    // What stands before a damaged commit can be folded.
    await existingActor(parts, { kind, id }).catch((error: unknown) => {
      if (!isDamage(error)) throw error
    })
    return parts.runtime.replay({ kind, id }, to)
  },
  'actors.send': async (parts, { kind, id, event, input, messageId }) => {
    // A session's events are filled in with what its sender did not have to name.
    if (kind === 'session')
      return receiptOf(await parts.runtime.session(id).command(event.type === 'message' && messageId ? { id: messageId, ...event } : event))
    registered(parts, kind)
    return receiptOf(await parts.runtime.actor(kind, id, input).send(event, messageId === undefined ? {} : { id: messageId }))
  },
  'actors.get': async (parts, { kind, id }) => {
    registered(parts, kind)
    const actor = parts.runtime.actor(kind, id)
    await existingActor(parts, actor.address)
    return actor.snapshot()
  },
  'actors.revive': async (parts, { kind, id }) => {
    registered(parts, kind)
    const actor = parts.runtime.actor(kind, id)
    await existingActor(parts, actor.address)
    return { revived: await actor.revive() }
  },
  'actors.list': (parts, input) => listActors(parts, input),
  'models.list': (parts) => ({ default: parts.models.defaultRef, models: parts.models.list() }),
  'tools.list': (parts) => listTools(parts),
  'agents.list': (parts) => ({
    agents: [...parts.agents.values()].map(({ agent, tools }, index) => ({
      name: agent.name,
      model: agent.model ?? parts.models.defaultRef,
      tools: tools.names,
      default: index === 0,
    })),
  }),
  'nodes.list': (parts) => ({ nodes: parts.runtime.nodes() }),
  'nodes.drain': async (parts, { node }) => {
    await parts.runtime.drainNode(node)
    return { draining: node }
  },
  health: (parts) => parts.runtime.health(),
}

/** Stops the run that goes on and all that waits, or one of them. */
const abortRuns = async (session: Session, runId: string | undefined): Promise<{ aborted: boolean; runIds: string[]; seq?: number }> => {
  const { run, queued } = await session.view()
  const all = [...(run ? [run.runId] : []), ...queued]
  try {
    const { seq } = await session.cancel(runId)
    return { aborted: true, runIds: runId === undefined ? all : [runId], seq }
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return { aborted: false, runIds: [] }
    throw error
  }
}

/** What became of a message that is said once more: its run goes on, or has ended, and its outcome is the answer. */
const endOf = async (session: Session, id: string): Promise<{ status: 'in_flight' } | { status: 'ok' | 'error'; cached: true; outcome: Outcome }> => {
  try {
    const outcome = await session.outcome(id)
    return { status: outcome.status === 'completed' ? 'ok' : 'error', cached: true, outcome }
  } catch (error) {
    if (isRuntimeError(error) && error.code === 'not_found') return { status: 'in_flight' }
    throw error
  }
}

/** The tools of agents, and which of them other nodes lack. */
export const listTools = async ({ agents, lacking }: Pick<Parts, 'agents' | 'lacking'>) => {
  const listed = [...agents.values()].map(({ agent, tools }) => ({ agent: agent.name, tools, described: tools.describe() }))
  const missing = await lacking?.(Object.fromEntries(listed.map(({ agent, described }) => [agent, described.map(({ name }) => name)])))
  const missingOn = (agent: string, name: string) => [...(missing ?? [])].flatMap(([node, of]) => (of[agent]?.includes(name) ? [node] : []))
  return {
    agents: listed.map(({ agent, tools, described }) => ({
      agent,
      tools: described.map((one) => {
        const { onCrash, approval } = tools.get(one.name) ?? {}
        const without = missingOn(agent, one.name)
        return {
          ...one,
          onCrash,
          approval: approval === false ? 'never' : approval === true ? 'always' : 'by input',
          ...definedOf({ missingOn: without.length === 0 ? undefined : without }),
        }
      }),
    })),
  }
}

/** Where nothing is, nothing waits. */
const noneOf = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}

const receiptOf = ({ seq, at, duplicate }: { seq: number; at: number; duplicate: boolean }) => ({ seq, at, duplicate })

/** Heard as it happens an outcome is an event; asked for later it is not. One answer has one shape. */
const withoutType = (outcome: Outcome & { type?: unknown }): Outcome => {
  const { type: _, ...rest } = outcome
  return rest
}

const failedOutcome = async (session: Session, runId: string, error: unknown): Promise<Outcome> => {
  if (!isRuntimeError(error) || error.code === 'not_found' || error.code === 'timeout') throw error
  try {
    return await session.outcome(runId)
  } catch {
    throw error
  }
}

/**
 * Carries out one command; what it answers is plain JSON.
 * @throws RuntimeError not_found for a command that does not exist, bad_request or too_large naming the field, and whatever the command throws
 */
export const execute = async (parts: RuntimeParts, name: string, input: unknown): Promise<unknown> => {
  if (!isCommand(name)) throw unknownCommand(name)
  const handler = handlers[name] as (parts: RuntimeParts, input: unknown) => unknown
  return await handler(parts, parseInput(commands[name], input))
}

const unknownCommand = (name: string): RuntimeError => {
  const names = Object.keys(commands)
  const near = nearest(name, names)
  return new RuntimeError('not_found', `there is no command '${name.slice(0, 80)}'`, {
    hint: near.length > 0 ? `did you mean ${near.join(', ')}?` : `there are: ${names.join(', ')}`,
  })
}
