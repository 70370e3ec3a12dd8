/** Which store it is, where none is named. */
import { afterEach, expect, test, vi } from 'vitest'
import { openTransport } from '../../../src/index.ts'
import { memorySnapshots, memoryStore, setLadderDefaults, workflow } from '../../../src/ladder/index.ts'
import { checkpointStoreFor, snapshotStoreFor } from '../../../src/ladder/stores/defaults.ts'
import { virtualClock } from '../../../src/testing/index.ts'
import { aLadder } from '../a-ladder.ts'
import { aRow } from './a-row.ts'

afterEach(() => setLadderDefaults({ defaultCheckpointStore: undefined, defaultSnapshotStore: undefined }))

test('[WL-013] a store that is named counts more than the default of the process, and later calls add to the defaults', () => {
  const [named, common, newer, snapshots] = [memoryStore(), memoryStore(), memoryStore(), memorySnapshots()]
  setLadderDefaults({ defaultCheckpointStore: common })
  setLadderDefaults({ defaultSnapshotStore: snapshots })

  expect(checkpointStoreFor()).toBe(common)
  expect(snapshotStoreFor()).toBe(snapshots)
  expect(checkpointStoreFor(named)).toBe(named)
  expect(snapshotStoreFor(memorySnapshots())).not.toBe(snapshots)
  setLadderDefaults({ defaultCheckpointStore: newer })
  expect(checkpointStoreFor()).toBe(newer)
  expect(snapshotStoreFor()).toBe(snapshots)
})

test('[WL-013] where neither is there it is the registry of the runtime, and without one nothing can be kept', async () => {
  const { registry, close } = await openTransport('memory:')
  const clock = virtualClock(1_700_000_000_000)

  await checkpointStoreFor(undefined, { registry, clock }).save(aRow('desk'))

  expect(await checkpointStoreFor(undefined, { registry, clock }).load('desk', 's')).toEqual(aRow('desk'))
  expect(await registry.list('ladder/sessions/desk/')).toHaveLength(1)
  expect(await snapshotStoreFor(undefined, { registry }).load('r')).toBeUndefined()
  await close()
  for (const wanted of [checkpointStoreFor, snapshotStoreFor])
    expect(() => wanted()).toThrow(expect.objectContaining({ code: 'ORCHESTRATOR_CONFIG', category: 'validation' }))
})

test('[WL-013, WL-044] executables are given the registry and the clock of the runtime that has them, and what is kept there outlives a crash', async () => {
  const flow = workflow({ name: 'flow', steps: [{ name: 'one', run: () => 1 }] })
  const bind = vi.spyOn(flow, 'bind')
  await using kit = await aLadder(flow)
  const lastBound = () => bind.mock.lastCall?.[0]
  await checkpointStoreFor(undefined, lastBound()).save(aRow('desk'))
  await checkpointStoreFor(undefined, lastBound()).lock('desk', 's', 'me', 1_000)

  await kit.crash()
  await kit.restart()

  const store = checkpointStoreFor(undefined, lastBound())
  expect(await store.load('desk', 's')).toMatchObject({ turn_index: 0, state: aRow('desk').state })
  expect((await store.record('desk', 's')).lock?.acquiredAt).toBe(kit.clock.now())
  await kit.clock.advance(1_000)
  expect((await store.record('desk', 's')).lock).toBeNull()
})

test('[WL-013] an executable whose runtime has ended has no registry any more', async () => {
  const flow = workflow({ name: 'flow', steps: [{ name: 'one', run: () => 1 }] })
  const bind = vi.spyOn(flow, 'bind')
  await using kit = await aLadder(flow)
  expect(bind.mock.lastCall?.[0]).toBeDefined()
  await kit.runtime.close()
  expect(bind.mock.lastCall?.[0]).toBeUndefined()
})
