/** What those who watch sessions are told of them, for all doors that have watchers. */
export { patchOf } from './patch.rules.ts'
export type { RunSoFar, Watcher } from './session-feed.ts'
export { SessionFeeds } from './session-feeds.ts'
