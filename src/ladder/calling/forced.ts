/** Runs that code has called, and that another version of them has begun: where their caller was taken over by force, they are as well. */
import { parseAddress, type Runtime } from '../../index.ts'

type Entry = { event: string; detail?: { type: string; conversation?: string; report?: { type?: string } } }
type Page = { entries: readonly Entry[]; next: number | null }

/** Whether that was so while the call was under way: its journal says it, in any process. @param key of the work that has called @param calledId the run */
export const isForced = async (runtime: Runtime, key: string, calledId: string): Promise<boolean> => {
  const caller = parseAddress(key.split('/').slice(0, 2).join('/'))
  let isCalled = false
  for (let from: number | null = 1; from !== null; ) {
    const page: Page = await runtime.command<Page>('trace.read', { kind: caller.kind, id: caller.id, from, limit: 1_000 })
    for (const { event, detail } of page.entries) {
      if (isCalled && detail === undefined && event.startsWith('adopted by ')) return true
      isCalled = isCalled || (detail?.type === 'ask.reported' && detail.report?.type === 'run.apart' && detail.conversation === calledId)
    }
    from = page.next
  }
  return false
}
