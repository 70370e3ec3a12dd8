/** Sessions and runs in the memory of this process, for tests. */
import { clock as clockKind, optionsIn } from '../given.ts'
import { keyedCheckpoints } from './keyed-checkpoints.ts'
import { keyedSnapshots } from './keyed-snapshots.ts'
import { memoryKeys } from './memory-keys.ts'
import type { Now } from './rows.rules.ts'
import type { CheckpointStore, SnapshotStore } from './store.ts'

/** @param options.clock ms since the epoch; default: that of the machine */
export const memoryStore = (options: { clock?: Now } = {}): CheckpointStore => {
  const { clock = Date.now } = optionsIn<typeof options>(options, { clock: clockKind }, { who: 'memoryStore()', code: 'LADDER_CONFIG' })
  return keyedCheckpoints(memoryKeys(), clock)
}

export const memorySnapshots = (): SnapshotStore => keyedSnapshots(memoryKeys())
