/** A row of a session. */
import type { CheckpointRow } from '../../../src/ladder/index.ts'

/** ms since the epoch */
export const start = 1_700_000_000_000

export const aRow = (orchestrator_name: string, given: Partial<CheckpointRow> = {}): CheckpointRow => ({
  orchestrator_name,
  session_id: 's',
  turn_index: 0,
  state: { count: 1, list: [1, 'two', null, { three: true }] },
  last_route: 'write',
  signature: '0badcafe',
  version: null,
  summarized_through: null,
  lock_acquired_at: null,
  lock_expires_at: null,
  saved_at: new Date(start).toISOString(),
  ...given,
})
