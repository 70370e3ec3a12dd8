/** Stores for the whole process. */
import type { CheckpointStore, SnapshotStore } from './store.ts'

export type LadderDefaults = { defaultCheckpointStore?: CheckpointStore; defaultSnapshotStore?: SnapshotStore }
const defaults: LadderDefaults = {}

/** Later calls add to earlier ones. */
export const setLadderDefaults = (given: LadderDefaults): void => void Object.assign(defaults, given)

/** @param bound that of the runtime, where nobody has said anything else */
export const checkpointStoreFor = (explicit: CheckpointStore | undefined, bound: CheckpointStore | undefined): CheckpointStore | undefined =>
  explicit ?? defaults.defaultCheckpointStore ?? bound
