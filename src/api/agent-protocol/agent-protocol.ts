/** Agents as hosts of the Synadia Agent Protocol for NATS, 0.3: found, prompted and watched by its clients. See docs/reference/agent-protocol.md. */
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { BusMessage } from '../../contracts/transport.ts'
import type { AgentProtocolOptions, RuntimeParts } from '../../runtime/index.ts'
import { announceService } from '../nats/micro-service.ts'
import { promptIn, requestMax } from './agent-request.ts'
import { answerPrompt, callerOf, type Follow } from './prompt.effects.ts'

type AgentProtocol = {
  /** Takes no more prompts and is not found any more; what was taken is answered. Safe twice. */
  leave(): void
  /** Resolves when every prompt has had its last word, or after a second. */
  settled(): Promise<void>
}

const protocolVersion = '0.3'
const queue = 'agents'
const heartbeatSeconds = 30
/** Prompts that are answered at the same time. */
const inFlightMax = 10_000
const settleMs = 1_000

const token = /^[A-Za-z0-9_-]{1,63}$/
const isToken = (value: unknown): value is string => typeof value === 'string' && token.test(value)

/** @throws RuntimeError bad_request, naming the field */
export const checkAgentProtocol = ({ owner, names }: AgentProtocolOptions): AgentProtocolOptions => {
  const hint = 'use 1 to 63 letters, digits, _ or -'
  const refused = (field: string, value: unknown): RuntimeError =>
    new RuntimeError('bad_request', `'${String(value).slice(0, 80)}' cannot be part of a subject`, { field: `agentProtocol.${field}`, hint })
  if (!isToken(owner)) throw refused('owner', owner)
  if (names === undefined) return { owner }
  if (!Array.isArray(names) || names.length === 0) throw refused('names', names)
  for (const name of names) if (!isToken(name)) throw refused('names', name)
  return { owner, names: [...new Set(names as string[])] }
}

/** A conversation of an agent, named so that `statecast history` and the rest find it. */
const sessionKey = (agent: string, owner: string, name: string): string => `agent:${agent}:${owner}:${name}`

/** @param follow how a prompt is said and its answer heard */
export const openAgentProtocol = (parts: RuntimeParts, { owner, names }: AgentProtocolOptions, follow: Follow): AgentProtocol => {
  const { transport, environment, agents } = parts
  const { bus } = transport
  const { clock, log } = environment
  const running = new Set<Promise<void>>()
  const stops: (() => void)[] = []

  const publish = (subject: string | undefined, body: object): void => {
    try {
      if (subject !== undefined) bus.publish(subject, new TextEncoder().encode(JSON.stringify(body)), { 'Content-Type': 'application/json' })
    } catch (error) {
      log.warn({ subject, error: errorBody(error) }, 'an agent could not say that it is here')
    }
  }

  const take = async (agent: string, { subject, data, reply, headers }: BusMessage): Promise<ErrorBody | undefined> => {
    const caller = callerOf(parts, reply)
    try {
      if (running.size >= inFlightMax)
        throw new RuntimeError('overloaded', `${running.size} prompts are being answered`, { retryable: true, hint: 'ask again later' })
      const name = subject.slice(subject.lastIndexOf('.') + 1)
      if (!isToken(name))
        throw new RuntimeError('bad_request', 'this cannot be the name of a conversation', { hint: 'use 1 to 63 letters, digits, _ or -' })
      const text = promptIn(data)
      const prompt = { text, id: headers?.['Nats-Msg-Id'], agent, follow }
      return await answerPrompt(parts, parts.runtime.session(sessionKey(agent, owner, name), { agent }), caller, prompt)
    } catch (error) {
      const body = shownBody(error)
      if (!isRuntimeError(error)) log.error({ error: body, agent }, 'a prompt failed')
      caller.error(body)
      caller.end()
      return body
    }
  }

  const offer = (agent: string, name: string): void => {
    const subject = (verb: string, last = name): string => `agents.${verb}.${agent}.${owner}.${last}`
    const session = sessionKey(agent, owner, name)
    const service = announceService(
      bus,
      clock,
      {
        name: 'agents',
        description: `the agent ${agent} of ${owner}, on Statecast`,
        metadata: { agent, owner, session, protocol_version: protocolVersion },
        endpoints: [
          { name: 'prompt', subject: subject('prompt'), queue, metadata: { max_payload: requestMax.text, attachments_ok: 'false' } },
          { name: 'status', subject: subject('status'), queue, metadata: {} },
        ],
      },
      publish,
    )
    const status = () => ({
      agent,
      owner,
      session,
      instance_id: service.id,
      ts: new Date(clock.now()).toISOString(),
      interval_s: heartbeatSeconds,
    })
    let timer: unknown
    const beat = (): void => {
      publish(subject('hb'), status())
      timer = clock.setTimeout(beat, heartbeatSeconds * 1000)
    }
    stops.push(
      service.stop,
      () => clock.clearTimeout(timer),
      bus.subscribe(
        subject('prompt', names === undefined ? '*' : name),
        (message) => {
          const answered = service.begin('prompt')
          const work = take(agent, message)
            .then((failure) => answered(failure))
            .finally(() => running.delete(work))
          running.add(work)
        },
        { queue },
      ),
      bus.subscribe(
        subject('status'),
        ({ reply }) => {
          const answered = service.begin('status')
          publish(reply, status())
          answered()
        },
        { queue },
      ),
    )
    beat()
  }

  for (const agent of agents.keys()) for (const name of names ?? ['main']) offer(agent, name)
  return {
    leave() {
      for (const stop of stops.splice(0)) stop()
    },
    async settled() {
      if (running.size === 0) return
      const late = Promise.withResolvers<void>()
      const timer = clock.setTimeout(late.resolve, settleMs)
      await Promise.race([Promise.allSettled(running), late.promise])
      clock.clearTimeout(timer)
    },
  }
}
