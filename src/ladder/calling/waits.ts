/** Who waits for whom. Runs and sessions that wait for each other in a circle would wait for ever, so whoever closes one is refused. */
import { LadderError } from '../errors.ts'
import type { Awaited, RunWait } from '../run.rules.ts'

/** @property notes of what it waits for, by which those who wrote them find them again @property next what it waits for */
export type Waits = { notes: readonly string[]; next: readonly Awaited[] }
/** What is asked for whom a run of it waits, or a session. */
export type Waiter = { waitsOf(id: string, request?: string): Promise<Waits> }

export const waitsForNobody: Waits = { notes: [], next: [] }

export const noteOf = ({ ask, waits: { key } }: RunWait): string => `${key} ${ask}`

/**
 * Of two who close a circle at the same moment at least one is refused: each writes its note before it looks.
 * @param own what the run has written down before @throws LadderError SUPERVISOR_DISPATCH_CYCLE
 */
export const requireNoCircle = async (own: RunWait, waiterOf: (kind: string) => Waiter | undefined): Promise<void> => {
  const { kind, id, request } = own.waits
  const note = noteOf(own)
  const seen = new Set<string>()
  const open: { one: Awaited; chain: readonly string[] }[] = [{ one: { kind, id, ...(request !== undefined && { request }) }, chain: [] }]
  // A list that grows is gone through to its new end.
  for (const { one, chain } of open) {
    const all = [...chain, `${one.kind}/${one.id}`]
    const name = `${all.at(-1)} ${one.request ?? ''}`
    if (seen.has(name)) continue
    seen.add(name)
    const { notes, next } = (await waiterOf(one.kind)?.waitsOf(one.id, one.request)) ?? waitsForNobody
    if (notes.includes(note)) throw circle(own, all)
    open.push(...next.map((after) => ({ one: after, chain: all })))
  }
}

const circle = ({ waits: { kind, id, by } }: RunWait, chain: readonly string[]): LadderError =>
  new LadderError('SUPERVISOR_DISPATCH_CYCLE', `the run ${by} wants to wait for '${kind}/${id}', which waits for it: ${chain.join(' → ')}`, {
    context: { runId: by, chain },
    hint: 'ask in a run or a session of its own, or begin it with start() and do not wait',
  })
