/** How programs reach a node. What one of the ways needs is loaded when it is taken. */
import type { httpClient as OverHttp } from './http-client.ts'
import type { natsClient as OverNats } from './nats-client.ts'

export { checkAddress } from './check-address.ts'
export type { Client, Subscription } from './client.ts'
export { type Compared, compareTrace, differenceText, eventsAt, type FirstDifference, unreadable } from './compare.ts'
export { type ConnectOptions, connect, folderOf, fromFolder, isNats, nodeAt, nodeOf, tokenFor } from './connect.ts'
export { type Accepted, type Followed, type FollowOptions, follow, followRun } from './follow.ts'
export { inProcessClient, type Share } from './in-process.ts'
export const httpClient = async (...given: Parameters<typeof OverHttp>) => (await import('./http-client.ts')).httpClient(...given)
export const natsClient = async (...given: Parameters<typeof OverNats>) => (await import('./nats-client.ts')).natsClient(...given)
export { journalOf } from './journal.ts'
export { type Recorded, recordedIn } from './recorded.ts'
export { saidSince } from './said.ts'
export { journalOfFile, parseTraceFile, type TraceFile } from './trace-file.ts'
