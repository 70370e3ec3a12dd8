/** Which store it is, where an executable names none. */
import { LadderError } from '../errors.ts'
import { anything, type KindsOf, optionsIn } from '../given.ts'
import type { Bound } from '../options.ts'
import { isCheckpointStore } from './guarded-store.ts'
import { isSnapshotStore } from './mirror.ts'
import { registrySnapshots, registryStore } from './registry-store.ts'
import type { CheckpointStore, SnapshotStore } from './store.ts'

export type LadderDefaults = { defaultCheckpointStore?: CheckpointStore | undefined; defaultSnapshotStore?: SnapshotStore | undefined }

let defaults: LadderDefaults = {}
const kinds: KindsOf<LadderDefaults> = { defaultCheckpointStore: anything, defaultSnapshotStore: anything }
const place = { who: 'setLadderDefaults()', code: 'LADDER_CONFIG' } as const

/** For the whole process. What later calls name counts, and what they do not name stays; `undefined` takes a default away. */
export const setLadderDefaults = (given: LadderDefaults): void => {
  // What is undefined is taken away.
  const { defaultCheckpointStore: sessions, defaultSnapshotStore: runs } = optionsIn<LadderDefaults>(given, kinds, place)
  if (sessions !== undefined && !isCheckpointStore(sessions))
    throw new LadderError('LADDER_CONFIG', 'defaultCheckpointStore is no store', { hint: 'give memoryStore(), sqliteStore(…) or one of your own' })
  if (runs !== undefined && !isSnapshotStore(runs))
    throw new LadderError('LADDER_CONFIG', 'defaultSnapshotStore is no store', {
      hint: 'give memorySnapshots(), sqliteSnapshots(…) or one of your own',
    })
  defaults = { ...defaults, ...given }
}

/** The one that is named; or the default of the process; or the registry of the runtime. @throws LadderError ORCHESTRATOR_CONFIG where there is none of them */
export const checkpointStoreFor = (explicit?: CheckpointStore, bound?: Pick<Bound, 'registry' | 'clock'>): CheckpointStore =>
  namedCheckpoints(explicit) ?? (bound ? registryStore(bound.registry, { clock: () => bound.clock.now() }) : none('sessions'))

/** The one that is named, or the default of the process, but for that of the runtime. */
export const namedCheckpoints = (explicit?: CheckpointStore): CheckpointStore | undefined => explicit ?? defaults.defaultCheckpointStore

/** As {@link checkpointStoreFor}, for runs in flight. @throws LadderError ORCHESTRATOR_CONFIG */
export const snapshotStoreFor = (explicit?: SnapshotStore, bound?: Pick<Bound, 'registry'>): SnapshotStore =>
  explicit ?? defaults.defaultSnapshotStore ?? (bound ? registrySnapshots(bound.registry) : none('runs in flight'))

/** The one that is named, or the default of the process: where there is neither, runs in flight stand in their journals alone. */
export const namedSnapshots = (explicit?: SnapshotStore): SnapshotStore | undefined => explicit ?? defaults.defaultSnapshotStore

const none = (what: string): never => {
  throw new LadderError('ORCHESTRATOR_CONFIG', `nothing says where ${what} are kept`, {
    hint: 'name a store, call setLadderDefaults({ … }), or start a runtime with ladder({ executables })',
  })
}
