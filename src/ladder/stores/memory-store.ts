/** Sessions and runs in the memory of this process, for tests. */
import { keyedCheckpoints } from './keyed-checkpoints.ts'
import { keyedSnapshots } from './keyed-snapshots.ts'
import { memoryKeys } from './memory-keys.ts'
import type { Now } from './rows.rules.ts'
import type { CheckpointStore, SnapshotStore } from './store.ts'

/** @param options.clock ms since the epoch; default: that of the machine */
export const memoryStore = ({ clock = Date.now }: { clock?: Now } = {}): CheckpointStore => keyedCheckpoints(memoryKeys(), clock)

export const memorySnapshots = (): SnapshotStore => keyedSnapshots(memoryKeys())
