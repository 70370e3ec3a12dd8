/** Runs in flight in keys, one for each. */
import { LadderError } from '../errors.ts'
import { jsonIn, jsonText } from './json.ts'
import { beginningOf, guarded, type Keys, part } from './keys.ts'
import type { RunSnapshot, SnapshotStore } from './store.ts'

const root = 'ladder/snapshots/'

export const keyedSnapshots = (given: Keys): SnapshotStore => {
  const keys = guarded(given)
  const read = (value: string): RunSnapshot => jsonIn(value, 'the snapshot of a run') as RunSnapshot
  const keyOf = (runId: string): string => `${root}${part(checkedRunId(runId))}`
  return {
    async load(runId) {
      const found = await keys.get(keyOf(runId))
      return found && read(found.value)
    },
    async save(snapshot) {
      await keys.put(keyOf(snapshot.runId), jsonText(snapshot, 'the snapshot'))
    },
    async delete(runId) {
      await keys.delete(keyOf(runId))
    },
    async list(prefix = '') {
      const found = await keys.list(`${root}${beginningOf(prefix)}`)
      return found.map(({ value }) => read(value).runId).filter((runId) => runId.startsWith(prefix))
    },
    schema: () => '',
  }
}

/** @throws LadderError STORE_FAILED */
export const checkedRunId = (runId: string): string => {
  if (typeof runId === 'string' && runId !== '' && runId.isWellFormed()) return runId
  throw new LadderError('STORE_FAILED', 'the id of a run is a text of at least one character, in well-formed Unicode', {
    hint: 'save what a run gave itself as its id',
  })
}
