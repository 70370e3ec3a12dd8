import { memorySnapshots, memoryStore } from '../../../src/ladder/index.ts'
import { describeCheckpointStore, describeSnapshotStore } from './store.contract.ts'

describeCheckpointStore({ name: 'sessions in memory', open: async (clock) => memoryStore({ clock }) })
describeSnapshotStore({ name: 'runs in memory', open: async () => memorySnapshots() })
