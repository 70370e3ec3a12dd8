/** What those who watch sessions are told of them, for all doors that have watchers. */
export { patchOf } from './patch.rules.ts'
export { SessionFeeds } from './session-feeds.ts'
export type { RunSoFar, Watcher } from './watcher.ts'
