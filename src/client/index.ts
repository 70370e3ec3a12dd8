/** How programs reach a node. What one of the ways needs is loaded when it is taken. */
import type { httpClient as OverHttp } from './http-client.ts'
import type { natsClient as OverNats } from './nats-client.ts'

export { type Client, inProcessClient, type Share } from './client.ts'
export const httpClient = async (...given: Parameters<typeof OverHttp>) => (await import('./http-client.ts')).httpClient(...given)
export const natsClient = async (...given: Parameters<typeof OverNats>) => (await import('./nats-client.ts')).natsClient(...given)
export { journalOf } from './journal.ts'
