/** Counts the requests of a gateway. */
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
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
