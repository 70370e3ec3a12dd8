/**
 * Every command over the bus, in plain JSON: `<prefix>.api.<command>`. It is a micro service as the NATS tools know it, so they find it and read its
 * statistics; any of several nodes answers.
 */
import { randomUUID } from 'node:crypto'
import { type CommandName, commands, isCommand } from '../contracts/commands.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Subjects } from '../contracts/subjects.ts'
import type { BusMessage } from '../contracts/transport.ts'
import type { Runtime } from '../runtime.ts'
import { version } from '../version.ts'
import { execute } from './commands.ts'
import { parseJson } from './parse.ts'
import { statusOf } from './status.ts'

export const serviceName = 'statecast'
const queue = 'q'
/** Commands that are carried out at the same time; some wait for a turn to end. */
const inFlightMax = 10_000
const nanosecondsPerMs = 1_000_000

type Statistics = { requests: number; errors: number; lastError: string; ms: number }

export type FrontDoor = {
  /** Takes no more; resolves when what it was asked has been answered, or after `timeoutMs`. */
  stop(timeoutMs?: number): Promise<void>
}

export const openFrontDoor = (runtime: Runtime, names: Subjects): FrontDoor => {
  const { transport, environment } = runtime.services
  const { bus } = transport
  const id = randomUUID().replaceAll('-', '')
  const started = new Date(environment.clock.now()).toISOString()
  const statistics = new Map<CommandName, Statistics>()
  const statisticsOf = (name: CommandName): Statistics => {
    const known = statistics.get(name) ?? { requests: 0, errors: 0, lastError: '', ms: 0 }
    statistics.set(name, known)
    return known
  }
  const running = new Set<Promise<void>>()

  const answer = (reply: string | undefined, body: unknown, headers: Record<string, string> = {}): void => {
    if (reply === undefined) return
    try {
      bus.publish(reply, encode(body), { 'Content-Type': 'application/json', ...headers })
    } catch (error) {
      // An answer that does not fit is an answer too, and a caller that is gone needs none.
      if (isRuntimeError(error) && error.code === 'too_large') refuse(reply, errorBody(error))
      else environment.log.warn({ error: errorBody(error) }, 'a command could not be answered')
    }
  }
  const refuse = (reply: string | undefined, error: ErrorBody): void =>
    answer(reply, { error }, { 'Nats-Service-Error': oneLine(`${error.code}: ${error.message}`), 'Nats-Service-Error-Code': String(statusOf(error)) })

  const take = async ({ subject, data, reply }: BusMessage): Promise<void> => {
    const name = subject.slice(names.api('x').length - 1)
    const began = environment.clock.now()
    const counted = isCommand(name) ? statisticsOf(name) : undefined
    if (counted) counted.requests++
    try {
      if (running.size > inFlightMax)
        throw new RuntimeError('overloaded', `${running.size} commands are being carried out`, { retryable: true, hint: 'ask again later' })
      answer(reply, (await execute(runtime, name, parseJson(data, 'request', 'send one JSON object in UTF-8', {}))) ?? null)
    } catch (error) {
      const body = errorBody(error)
      if (!isRuntimeError(error)) environment.log.error({ error: body, command: name }, 'a command failed')
      if (counted) {
        counted.errors++
        counted.lastError = `${body.code}: ${body.message}`
      }
      refuse(reply, body)
    } finally {
      if (counted) counted.ms += environment.clock.now() - began
    }
  }

  const identity = { name: serviceName, id, version, metadata: {} }
  const about = (verb: 'PING' | 'INFO' | 'STATS'): object => {
    const endpoints = (Object.keys(commands) as CommandName[]).map((name) => ({
      name: name.replaceAll('.', '-'),
      subject: names.api(name),
      queue_group: queue,
      command: name,
    }))
    if (verb === 'PING') return { type: 'io.nats.micro.v1.ping_response', ...identity }
    if (verb === 'INFO')
      return {
        type: 'io.nats.micro.v1.info_response',
        ...identity,
        description: 'Statecast: durable conversations and actors',
        endpoints: endpoints.map(({ command, ...endpoint }) => ({ ...endpoint, metadata: { description: commands[command].description ?? '' } })),
      }
    return {
      type: 'io.nats.micro.v1.stats_response',
      ...identity,
      started,
      endpoints: endpoints.map(({ command, ...endpoint }) => {
        const { requests, errors, lastError, ms } = statisticsOf(command)
        const total = Math.round(ms * nanosecondsPerMs)
        return {
          ...endpoint,
          num_requests: requests,
          num_errors: errors,
          last_error: lastError,
          processing_time: total,
          average_processing_time: requests === 0 ? 0 : Math.round(total / requests),
        }
      }),
    }
  }

  const stops = [
    bus.subscribe(
      names.everyApi(),
      (message) => {
        const work = take(message).finally(() => running.delete(work))
        running.add(work)
      },
      { queue },
    ),
    ...(['PING', 'INFO', 'STATS'] as const).flatMap((verb) =>
      ['', `.${serviceName}`, `.${serviceName}.${id}`].map((whom) => bus.subscribe(`$SRV.${verb}${whom}`, ({ reply }) => answer(reply, about(verb)))),
    ),
  ]
  return {
    async stop(timeoutMs = 0) {
      for (const stop of stops.splice(0)) stop()
      await Promise.race([
        Promise.allSettled(running),
        new Promise((resolve) => void environment.clock.setTimeout(() => resolve(undefined), timeoutMs)),
      ])
    },
  }
}

const encode = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body))

/** A header is one line of ASCII. */
const oneLine = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
