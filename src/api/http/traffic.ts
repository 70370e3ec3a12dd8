/** Counts the requests of a gateway, and bounds those that have not been answered. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { RuntimeError } from '../../contracts/errors.ts'
import type { GatewayLimits } from './limits.ts'
import type { Labels } from './prometheus.rules.ts'

/** Others come from outside, and there could be any number of them. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The route as it is written, not as it was asked for. */
const routeOf = (context: Context): string => matchedRoutes(context).findLast(({ method }) => method !== 'ALL')?.path ?? 'none'

export class RequestCounts {
  readonly #counts = new Map<string, { labels: Labels; value: number }>()

  readonly count: MiddlewareHandler = async (context, next) => {
    await next()
    const { method } = context.req.raw
    const labels = { method: methods.has(method) ? method : 'other', route: routeOf(context), status: String(context.res.status) }
    const key = JSON.stringify(labels)
    const known = this.#counts.get(key)
    if (known) known.value++
    else this.#counts.set(key, { labels, value: 1 })
  }

  get all(): { labels: Labels; value: number }[] {
    return [...this.#counts.values()]
  }
}

type Wire = { incoming?: { socket: Socket }; outgoing?: ServerResponse }

/** HTTP lets a client send requests without waiting for answers: so many of one connection are taken up, and of all. An answer that is not read counts. */
export const boundedRequests = ({ requestsPerConnectionMax, requestsMax }: GatewayLimits): MiddlewareHandler => {
  const open = new WeakMap<Socket, number>()
  let all = 0
  return async (context, next) => {
    const { incoming, outgoing } = (context.env ?? {}) as Wire
    const socket = incoming?.socket
    if (socket === undefined || outgoing === undefined) return next()
    const count = open.get(socket) ?? 0
    if (count >= requestsPerConnectionMax || all >= requestsMax)
      throw new RuntimeError('rate_limited', `${count} requests of this connection have not been answered, or their answers have not been read`, {
        retryable: true,
        hint: 'read what was answered before asking for more',
        data: { retryAfter: 1 },
      })
    all++
    open.set(socket, count + 1)
    outgoing.once('close', () => {
      all--
      open.set(socket, (open.get(socket) ?? 1) - 1)
    })
    await next()
  }
}
