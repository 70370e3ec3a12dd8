/** Reads a journal to its end, and then what is new in it. */
import type { SocketClient } from '../../../../src/client/socket/index.ts'
import { errorBody, isRuntimeError } from '../../../../src/contracts/errors.ts'
import type { Subject, ViewingEvent } from '../viewing/viewing.context.ts'
import type { FramesPage } from './commands.ts'
import type { WorkerLink } from './worker-link.ts'

const pageMax = 500
/** ms after which it is looked for new commits in any case: a word from another node may be lost. */
const lookMs = 5_000

type Parts = { client: SocketClient; worker: WorkerLink; tell: (event: ViewingEvent) => void }

/** @returns how to stop */
export const reading = ({ client, worker, tell }: Parts, { kind, id }: Subject, from: number): (() => void) => {
  let next = from
  let stopped = false
  let isReading = false
  let again = false
  let known = false

  const page = async (limit: number): Promise<FramesPage | undefined> => {
    try {
      return await client.call<FramesPage>('trace.frames', { kind, id, from: next, limit })
    } catch (error) {
      const damaged = isRuntimeError(error) && error.code === 'corrupt_at' ? Number((error.data as { seq?: number } | undefined)?.seq) : Number.NaN
      // What stands before the damage is sound.
      if (damaged > next && limit > 1) return page(Math.min(limit, damaged - next))
      if (damaged === next) tell({ type: 'corrupt', seq: next, error: errorBody(error) })
      else if (!isRuntimeError(error) || error.code !== 'log_unavailable') tell({ type: 'unreadable', error: errorBody(error) })
      return undefined
    }
  }

  const read = async (): Promise<void> => {
    if (isReading) {
      again = true
      return
    }
    isReading = true
    do {
      again = false
      const found = await page(pageMax)
      if (stopped || !found) break
      if (found.frames.length > 0) worker.frames(found.frames)
      next = (found.frames.at(-1)?.seq ?? next - 1) + 1
      if (next <= found.head.seq) again = true
      else if (!known) {
        known = true
        // Behind the rows of what was read.
        void worker.ask({ what: 'detail', seq: Math.max(1, next - 1) }).then(
          () => !stopped && tell({ type: 'read' }),
          () => undefined,
        )
      }
    } while (again && !stopped)
    isReading = false
  }

  const look = (): void => void read()
  const timer = setInterval(look, lookMs)
  const off = client.watch({ kind, id }, look)
  return () => {
    stopped = true
    clearInterval(timer)
    off()
  }
}
