/** What a scenario has left in the journals. */
import { commitOf, traceEntries } from '../../../src/actors/index.ts'
import type { Runtime } from '../../../src/index.ts'
import { partsOf } from '../../../src/runtime/index.ts'
import { timeless } from '../a-ladder.ts'
import type { Deed, Story } from './scenario.ts'

export type Left = {
  /** Of each actor of each root what it has taken in; left out is by whom it was taken up again, that it was asked again, and whom code calls. */
  trace: Record<string, string[]>
  /** What came of deeds and is written down, by the life that wrote it. */
  written: [Deed['what'][], Deed['what'][]]
  /** Of all journals. */
  commits: number
  verdicts: Record<string, string>
}

/** A commit: where it stands, and who wrote it. */
export type Written = { name: string; seq: number; writer: string }

export const nameOf = ({ kind, id }: { kind: string; id: string }): string => `${kind} ${id}`

/** @param lifeOf which life has written a commit */
export const leftBy = async (runtime: Runtime, story: Story, lifeOf: (commit: Written) => 0 | 1): Promise<Left> => {
  const left: Left = { trace: {}, written: [[], []], commits: 0, verdicts: {} }
  const { journal } = partsOf(runtime).transport
  for (const { address } of await journal.list()) {
    const name = nameOf(address)
    const compared = story.compares?.(address.kind, address.id) !== false
    for (const frame of await journal.read(address, 1)) {
      const commit = commitOf(frame, address)
      left.commits++
      for (const { actor, event } of traceEntries(commit)) {
        const what = event === 'resolved' ? whatOf(actor, story) : undefined
        if (what) left.written[lifeOf({ name, seq: commit.seq, writer: commit.writer })].push(what)
        if (event === 'ask.reported' && story.callers?.test(actor)) continue
        if (!compared || event === 'execute' || /^(?:claimed|taken over) by /.test(event)) continue
        const told = left.trace[undated(`${name} ${actor}`)] ?? []
        left.trace[undated(`${name} ${actor}`)] = [...told, event]
      }
    }
    left.verdicts[name] = (await runtime.replay(address)).verdict
  }
  return left
}

const whatOf = (actor: string, { effects }: Story): Deed['what'] | undefined =>
  /\/model#\d+$/.test(actor) ? 'model' : effects?.test(actor) ? 'code' : undefined

/** Schedules name runs by when they are due. */
export const undated = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.=E]+Z/g, 'then')
export const plain = (value: unknown): unknown => JSON.parse(undated(JSON.stringify(timeless(value))))
