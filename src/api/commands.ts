/** Every command of `src/contracts/commands.ts`, carried out: the gateway, the command line and services all come through here. */

import { randomUUID } from 'node:crypto'
import { halfImportedError } from '../actors/index.ts'
import { type CommandInput, type CommandName, commands, isCommand } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import type { SessionOutput } from '../contracts/session.ts'
import { isDamage } from '../contracts/shorter.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { beingImported, type Head } from '../contracts/transport.ts'
import type { Outcome, Runtime, Services, Session } from '../runtime/index.ts'
import { readFrames, readTrace, registered, whereToLook } from '../runtime/index.ts'
import { nearest } from '../tools/index.ts'
import { allApprovals, approvalsOf, listActors } from './actors.ts'
import { readEvents } from './events-read.ts'
import { importFrames } from './import.ts'
import { parsePlace } from './place.ts'
import { deleteSession, journalIsDamaged, listSessions } from './sessions.ts'

type Handlers = { [Name in CommandName]: (runtime: Runtime, input: CommandInput<Name>) => unknown }

/** Asking after a session must not bring one into being. @throws RuntimeError not_found, conflict while it is being imported */
const existing = async (runtime: Runtime, key: string): Promise<Session> => {
  const session = runtime.session(key)
  whole(session.address, await headOf(runtime, session.address, noSession(key)))
  return session
}

const noSession = (key: string): string => `there is no session '${key.slice(0, 80)}'`

const existingActor = async (runtime: Runtime, address: Address): Promise<void> =>
  whole(address, await headOf(runtime, address, `there is no ${formatAddress(address)}`))

const whole = (address: Address, { wakeAt }: Head): void => {
  if (wakeAt === beingImported) throw halfImportedError(formatAddress(address))
}

const headOf = async (runtime: Runtime, address: Address, message: string): Promise<Head> => {
  const head = await runtime.services.transport.journal.head(address)
  if (head) return head
  throw new RuntimeError('not_found', message, { hint: `it begins with its first message; ${whereToLook(runtime, address.kind)}` })
}

const handlers: Handlers = {
  'chat.send': async (runtime, { sessionKey, message, idempotencyKey, agent, model, ...more }) => {
    const session = runtime.session(sessionKey, agent === undefined ? {} : { agent })
    // A reference that no provider knows would only be noticed in the turn, when the sender may be gone.
    if (model !== undefined) await runtime.services.models.get(model)
    const id = idempotencyKey ?? `m-${randomUUID()}`
    const { emitted, duplicate, seq } = await session.command({
      type: 'message',
      text: message,
      id,
      ...(model === undefined ? {} : { model }),
      ...definedOf(more),
    })
    const accepted = emitted.find(({ type }) => type === 'accepted') as Extract<SessionOutput, { type: 'accepted' }> | undefined
    const receipt = { id, runId: accepted?.runId || id, status: duplicate ? 'duplicate' : (accepted?.status ?? 'queued'), seq }
    return duplicate ? { ...receipt, duplicate } : receipt
  },
  'chat.abort': async (runtime, { sessionKey, runId }) => {
    const { seq } = await (await existing(runtime, sessionKey)).cancel(runId)
    return { seq }
  },
  'chat.history': async (runtime, { sessionKey, limit }) => {
    const messages = await (await existing(runtime, sessionKey)).history()
    return { messages: limit === undefined ? messages : messages.slice(-limit) }
  },
  'sessions.list': async (runtime, { limit }) => ({ sessions: await listSessions(runtime, limit) }),
  'sessions.get': async (runtime, { sessionKey }) => (await existing(runtime, sessionKey)).view(),
  'sessions.reset': async (runtime, { sessionKey, reason }) => {
    const { seq } = await (await existing(runtime, sessionKey)).reset(reason)
    return { seq }
  },
  'sessions.compact': async (runtime, { sessionKey }) => {
    const { seq } = await (await existing(runtime, sessionKey)).compact()
    return { seq }
  },
  'sessions.configure': async (runtime, { sessionKey, toggles }) => {
    if (toggles.model) await runtime.services.models.get(toggles.model)
    const { seq } = await (await existing(runtime, sessionKey)).configure(toggles)
    return { seq }
  },
  'sessions.clear': async (runtime, { sessionKeys }) => {
    const cleared = { followups: 0, dropped: 0, lane: 0 }
    for (const key of new Set(sessionKeys)) {
      const session = await existing(runtime, key).catch(noneOf)
      if (session === undefined) continue
      const { emitted } = await session.command({ type: 'clear' })
      const said = emitted.find(({ type }) => type === 'cleared') as Extract<SessionOutput, { type: 'cleared' }> | undefined
      for (const what of ['followups', 'dropped', 'lane'] as const) cleared[what] += said?.[what] ?? 0
    }
    return cleared
  },
  'sessions.delete': async (runtime, { sessionKey }) => {
    const { address } = runtime.session(sessionKey)
    // Also one of which only half was imported, or that is damaged: where its journal is gone, its snapshot is what says that it was there.
    const damaged = await journalIsDamaged(runtime, address)
    if (!damaged) await headOf(runtime, address, noSession(sessionKey))
    await deleteSession(runtime, address)
    return { deleted: sessionKey }
  },
  'agent.wait': async (runtime, { sessionKey, runId, timeoutMs }) => {
    const session = await existing(runtime, sessionKey)
    try {
      return withoutType(await session.wait(runId, timeoutMs))
    } catch (error) {
      // How a turn failed is an outcome too; only what kept us from learning it is an error of this command.
      return await failedOutcome(session, runId, error)
    }
  },
  'approvals.list': async (runtime, { sessionKey }) => {
    if (sessionKey === undefined) return allApprovals(runtime)
    return { approvals: await approvalsOf(runtime, (await existing(runtime, sessionKey)).key), unreadable: [] }
  },
  'approvals.resolve': async (runtime, { sessionKey, ...decision }) => {
    const { seq } = await (await existing(runtime, sessionKey)).command({ type: 'approve', ...decision })
    return { seq }
  },
  'events.read': (runtime, { kind = 'session', id, after, limit }) => {
    registered(runtime, kind)
    return readEvents(runtime, { kind, id }, { after: after === undefined ? undefined : parsePlace(after, 'after'), limit })
  },
  'trace.read': (runtime, { kind = 'session', id, from, limit }) => readTrace(runtime, { kind, id }, from, limit),
  'trace.frames': (runtime, { kind = 'session', id, from, limit }) => readFrames(runtime, { kind, id }, from, limit),
  'trace.import': (runtime, { kind = 'session', id, frames, wakeAt }) => {
    registered(runtime, kind)
    return importFrames(runtime, { kind, id }, frames, wakeAt)
  },
  'trace.replay': async (runtime, { kind = 'session', id, to }) => {
    registered(runtime, kind)
    // What stands before a damaged commit can be folded.
    await existingActor(runtime, { kind, id }).catch((error: unknown) => {
      if (!isDamage(error)) throw error
    })
    return runtime.replay({ kind, id }, to)
  },
  'actors.send': async (runtime, { kind, id, event, input, messageId }) => {
    // A session's events are filled in with what its sender did not have to name.
    if (kind === 'session')
      return receiptOf(await runtime.session(id).command(event.type === 'message' && messageId ? { id: messageId, ...event } : event))
    registered(runtime, kind)
    return receiptOf(await runtime.actor(kind, id, input).send(event, messageId === undefined ? {} : { id: messageId }))
  },
  'actors.get': async (runtime, { kind, id }) => {
    registered(runtime, kind)
    const actor = runtime.actor(kind, id)
    await existingActor(runtime, actor.address)
    return actor.snapshot()
  },
  'actors.revive': async (runtime, { kind, id }) => {
    registered(runtime, kind)
    const actor = runtime.actor(kind, id)
    await existingActor(runtime, actor.address)
    return { revived: await actor.revive() }
  },
  'actors.list': (runtime, input) => listActors(runtime, input),
  'models.list': (runtime) => ({ default: runtime.services.models.defaultRef, models: runtime.services.models.list() }),
  'tools.list': ({ services }) => listTools(services),
  'agents.list': (runtime) => ({
    agents: [...runtime.services.agents.values()].map(({ agent, tools }, index) => ({
      name: agent.name,
      model: agent.model ?? runtime.services.models.defaultRef,
      tools: tools.names,
      default: index === 0,
    })),
  }),
  'nodes.list': (runtime) => ({ nodes: runtime.nodes() }),
  'nodes.drain': async (runtime, { node }) => {
    await runtime.drainNode(node)
    return { draining: node }
  },
  health: (runtime) => runtime.health(),
}

const listTools = async ({ agents, lacking }: Services) => {
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
          ...(without.length === 0 ? {} : { missingOn: without }),
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
export const execute = async (runtime: Runtime, name: string, input: unknown): Promise<unknown> => {
  if (!isCommand(name)) throw unknownCommand(name)
  const handler = handlers[name] as (runtime: Runtime, input: unknown) => unknown
  return await handler(runtime, parseInput(commands[name], input))
}

const unknownCommand = (name: string): RuntimeError => {
  const names = Object.keys(commands)
  const near = nearest(name, names)
  return new RuntimeError('not_found', `there is no command '${name.slice(0, 80)}'`, {
    hint: near.length > 0 ? `did you mean ${near.join(', ')}?` : `there are: ${names.join(', ')}`,
  })
}
