/** Sessions and runs in the registry of a runtime: in its data folder, or on the NATS server that its nodes share. Where nothing else is said, they are kept there. */
import type { Transport } from '../../index.ts'
import { clock as clockKind, optionsIn } from '../given.ts'
import { keyedCheckpoints } from './keyed-checkpoints.ts'
import { keyedSnapshots } from './keyed-snapshots.ts'
import { checkedRegistry } from './keys.ts'
import type { Now } from './rows.rules.ts'
import type { CheckpointStore, SnapshotStore } from './store.ts'

/** A row may have about a million characters. @param options.clock ms since the epoch; default: that of the machine */
export const registryStore = (registry: Transport['registry'], options: { clock?: Now } = {}): CheckpointStore => {
  const { clock = Date.now } = optionsIn<typeof options>(options, { clock: clockKind }, { who: 'registryStore()', code: 'LADDER_CONFIG' })
  return keyedCheckpoints(checkedRegistry(registry, 'registryStore'), clock)
}

/** A snapshot may have about a million characters. */
export const registrySnapshots = (registry: Transport['registry']): SnapshotStore => keyedSnapshots(checkedRegistry(registry, 'registrySnapshots'))
