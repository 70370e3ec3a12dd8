/** Runs that code has called, and that another version of them has begun: where their caller was taken over by force, they are as well. */
import { parseAddress, type Runtime } from '../../index.ts'
import { type LadderCode, LadderError } from '../errors.ts'
import type { CallPlace } from './calls.ts'

type Entry = { event: string; detail?: { type: string; conversation?: string; report?: { type?: string } } }
type Page = { entries: readonly Entry[]; next: number | null }

type Along = { called: CallPlace | undefined; code: LadderCode; runtime: Runtime; adopt: () => Promise<void> }

/** What following a run comes to. @property code of its drift @throws what `follow` throws; LadderError on drift where it cannot be taken over */
export const takenAlong = async <Settled>(follow: () => Promise<Settled>, { called, code, runtime, adopt }: Along): Promise<Settled> => {
  try {
    return await follow()
  } catch (thrown) {
    const hasDrifted = thrown instanceof LadderError && thrown.code === code
    if (!called || !hasDrifted || !(await isForced(runtime, called))) throw thrown
  }
  await adopt()
  return follow()
}

/** Whether its caller was while the call was under way: the journal of that one says so, in any process. */
const isForced = async (runtime: Runtime, { key, runId }: CallPlace): Promise<boolean> => {
  const caller = parseAddress(key.split('/').slice(0, 2).join('/'))
  let isCalled = false
  for (let from: number | null = 1; from !== null; ) {
    const page: Page = await runtime.command<Page>('trace.read', { kind: caller.kind, id: caller.id, from, limit: 1_000 })
    for (const { event, detail } of page.entries) {
      if (isCalled && detail === undefined && event.startsWith('adopted by ')) return true
      isCalled = isCalled || (detail?.type === 'ask.reported' && detail.report?.type === 'run.apart' && detail.conversation === runId)
    }
    from = page.next
  }
  return false
}
