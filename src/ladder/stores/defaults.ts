/** Which store it is, where an executable names none. */
import { LadderError } from '../errors.ts'
import type { Bound } from '../options.ts'
import { registrySnapshots, registryStore } from './registry-store.ts'
import type { CheckpointStore, SnapshotStore } from './store.ts'

export type LadderDefaults = { defaultCheckpointStore?: CheckpointStore | undefined; defaultSnapshotStore?: SnapshotStore | undefined }

let defaults: LadderDefaults = {}

/** For the whole process. What later calls name counts, and what they do not name stays; `undefined` takes a default away. */
export const setLadderDefaults = (given: LadderDefaults): void => {
  defaults = { ...defaults, ...given }
}

/** The one that is named; or the default of the process; or the registry of the runtime. @throws LadderError ORCHESTRATOR_CONFIG where there is none of them */
export const checkpointStoreFor = (explicit?: CheckpointStore, bound?: Pick<Bound, 'registry' | 'clock'>): CheckpointStore =>
  explicit ?? defaults.defaultCheckpointStore ?? (bound ? registryStore(bound.registry, { clock: () => bound.clock.now() }) : none('sessions'))

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
