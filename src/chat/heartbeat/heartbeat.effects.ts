/** Heartbeats of the agents that want one: an actor each, which asks in the session of the agent. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromTask, registerMachine } from '../../actors/index.ts'
import type { Heartbeat } from '../../contracts/agent.ts'
import { withoutMark } from '../../contracts/byte-order-mark.ts'
import type { Channel } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import { pause } from '../../contracts/environment.ts'
import { errorBody } from '../../contracts/errors.ts'
import { heartbeatModel } from '../../contracts/model-choice.rules.ts'
import type { Payload } from '../../contracts/reply.ts'
import type { Session, SharedParts } from '../../runtime/index.ts'
import { type Channels, channelNamed } from '../channels/channel-table.ts'
import type { PeopleAgents } from '../chat-agents.ts'
import type { deliveryActor } from '../delivery/delivery.effects.ts'
import { routed } from '../delivery/route.rules.ts'
import { resolveDelivery } from '../delivery/settings.rules.ts'
import type { DeskContext } from '../desk/desk.setup.ts'
import { type Asked, type AskInput, type HeartbeatInput, heartbeatMachine, type Look } from './heartbeat.machine.ts'
import { resolveVisibility, skipReason } from './heartbeat.rules.ts'

export const heartbeatKind = 'heartbeat'

const defaultEveryMs = 30 * 60_000
const defaultPrompt =
  'This is a heartbeat: nobody has written. Look whether something needs attention now, following the checklist if there is one. If not, answer HEARTBEAT_OK and nothing else. If so, write the message that the user is to get.'

/** What each of them is: the definition may change between two of them. */
type Parts = {
  shared: SharedParts
  agents: PeopleAgents
  channels: Channels
  workspace: string
  delivery: ReturnType<typeof deliveryActor>
  session(key: string, agent: string): Session
}

const everyOf = ({ everyMs = defaultEveryMs }: Heartbeat): number => everyMs

export const registerHeartbeat = (parts: Parts) => ({
  ...registerMachine(
    heartbeatKind,
    heartbeatMachine.provide({
      actors: {
        look: fromTask(({ input }) => look(parts, input)),
        ask: fromTask(({ input }) => ask(parts, input)),
        delivery: parts.delivery,
      },
    }),
    { strict: true },
  ),
  forks: false,
})

/** One actor for each agent that has a heartbeat; one that is there learns when its definition has changed. */
export const startHeartbeats = async ({ directory, environment }: SharedParts, agents: PeopleAgents): Promise<void> => {
  for (const agent of agents.values()) {
    if (!agent.heartbeat) continue
    const address = { kind: heartbeatKind, id: agent.name }
    const wanted = { session: agent.heartbeat.session ?? 'main', everyMs: everyOf(agent.heartbeat) }
    try {
      await directory.create(address, { agent: agent.name, ...wanted })
      const { session, everyMs } = ((await directory.read(address)).snapshot?.context ?? wanted) as HeartbeatInput
      if (session !== wanted.session || everyMs !== wanted.everyMs) await directory.send(address, { type: 'configure', ...wanted })
    } catch (error) {
      environment.log.error({ agent: agent.name, error: errorBody(error) }, 'a heartbeat could not be started')
    }
  }
}

const look = async ({ shared, agents, channels, workspace }: Parts, { agent: name, session }: HeartbeatInput): Promise<Look> => {
  const heartbeat = agents.get(name)?.heartbeat
  const at = shared.environment.clock.now()
  const { snapshot } = await shared.directory.read({ kind: 'session', id: session }, true)
  const desk = snapshot?.children?.desk?.context as DeskContext | undefined
  const origin = desk?.record.origin
  const target = heartbeat?.target ?? 'last'
  const route = target === 'none' ? undefined : target === 'last' ? origin && routed(origin).route : target
  const channel = route && channels.get(route.channel)
  const ofAccount = route?.account === undefined ? undefined : channel?.heartbeat?.accounts?.[route.account]
  const visibility = resolveVisibility([ofAccount, channel?.heartbeat, heartbeat?.visibility])
  const skip = skipReason({
    enabled: heartbeat !== undefined,
    now: at,
    ...definedOf({ hours: heartbeat?.activeHours }),
    busy: snapshot !== undefined && snapshot.value !== 'awaiting-input',
    checklist:
      heartbeat?.checklist === undefined
        ? undefined
        : await readFile(join(workspace, heartbeat.checklist), 'utf8').then(withoutMark, () => undefined),
    visibility,
  })
  const ready = channel === undefined || (await isReady(channel, shared))
  return {
    at,
    showOk: visibility.showOk,
    showAlerts: visibility.showAlerts,
    ...definedOf({ skip }),
    ...(route && ready && (visibility.showAlerts || visibility.showOk)
      ? { route, delivery: resolveDelivery(channelNamed(channels, route.channel), { heartbeat: true }) }
      : {}),
  }
}

/** A channel that does not say so in time is not ready. */
const readyMs = 5_000
const isReady = async (channel: Channel, { environment }: SharedParts): Promise<boolean> => {
  const late = pause(environment.clock, readyMs).then(() => false)
  const answer = Promise.resolve(channel.heartbeatReady?.()).then((ready) => ready !== false)
  return Promise.race([answer, late])
}

/** Asked again after a crash it is the same message, and gets the answer that was given. */
const ask = async ({ shared, agents, session }: Parts, { agent: name, session: key, id }: AskInput): Promise<Asked> => {
  const heartbeat = agents.get(name)?.heartbeat
  const run = await session(key, name).send(heartbeat?.prompt ?? defaultPrompt, {
    idempotencyKey: id,
    queueMode: 'followup',
    heartbeat: true,
    ...definedOf({ model: heartbeatModel(shared.config.view.value, name) ?? heartbeat?.model }),
  })
  const { text, outcome, reply } = await run.result()
  const payloads: Payload[] = outcome === 'silent' ? [] : reply === undefined ? (text === '' ? [] : [{ text }]) : [reply].flat()
  return { at: shared.environment.clock.now(), payloads, text }
}
