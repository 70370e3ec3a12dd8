/** A micro service as the tools of NATS know it (ADR-32): they find it, read what it offers, and how often it was asked. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../contracts/environment.ts'
import type { ErrorBody } from '../../contracts/errors.ts'
import type { Bus } from '../../contracts/transport.ts'
import { version } from '../../runtime/index.ts'

/** Requests on its subject are its owner's to answer. */
type Endpoint = { name: string; subject: string; queue: string; metadata: Record<string, string> }

type MicroService = {
  /** Of this instance; one token. */
  id: string
  /** Counts a request of an endpoint. @returns to be called when it has been answered, with the error if it was one */
  begin(endpoint: string): (error?: ErrorBody) => void
  stop(): void
}

type Description = { name: string; description: string; metadata?: Record<string, string>; endpoints: readonly Endpoint[] }

const verbs = ['PING', 'INFO', 'STATS'] as const
const nanosecondsPerMs = 1_000_000

export const announceService = (
  bus: Bus,
  clock: Clock,
  { name, description, metadata = {}, endpoints }: Description,
  answer: (reply: string | undefined, body: object) => void,
): MicroService => {
  const id = randomUUID().replaceAll('-', '')
  const started = new Date(clock.now()).toISOString()
  const figures = new Map(endpoints.map((endpoint) => [endpoint.name, { requests: 0, errors: 0, lastError: '', ms: 0 }]))

  const identity = { name, id, version, metadata }
  const common = ({ name: endpoint, subject, queue }: Endpoint) => ({ name: endpoint, subject, queue_group: queue })
  const statistics = (endpoint: Endpoint) => {
    const { requests, errors, lastError, ms } = figures.get(endpoint.name) as { requests: number; errors: number; lastError: string; ms: number }
    const total = Math.round(ms * nanosecondsPerMs)
    return {
      ...common(endpoint),
      num_requests: requests,
      num_errors: errors,
      last_error: lastError,
      processing_time: total,
      average_processing_time: requests === 0 ? 0 : Math.round(total / requests),
    }
  }
  const about = (verb: (typeof verbs)[number]): object => {
    const type = `io.nats.micro.v1.${verb.toLowerCase()}_response`
    if (verb === 'PING') return { type, ...identity }
    if (verb === 'STATS') return { type, ...identity, started, endpoints: endpoints.map(statistics) }
    return {
      type,
      ...identity,
      description,
      endpoints: endpoints.map((endpoint) => ({ ...common(endpoint), metadata: endpoint.metadata })),
    }
  }

  const stops = verbs.flatMap((verb) =>
    ['', `.${name}`, `.${name}.${id}`].map((whom) => bus.subscribe(`$SRV.${verb}${whom}`, ({ reply }) => answer(reply, about(verb)))),
  )
  return {
    id,
    begin(endpoint) {
      const counted = figures.get(endpoint)
      const began = clock.now()
      if (counted) counted.requests++
      return (error) => {
        if (!counted) return
        counted.ms += clock.now() - began
        if (!error) return
        counted.errors++
        counted.lastError = `${error.code}: ${error.message}`
      }
    },
    stop() {
      for (const stop of stops.splice(0)) stop()
    },
  }
}

/** An error as every client of micro services reads it. @param status as in HTTP */
export const errorHeaders = ({ code, message }: ErrorBody, status: number): Record<string, string> => ({
  'Nats-Service-Error': `${code}: ${message}`.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200),
  'Nats-Service-Error-Code': String(status),
})
