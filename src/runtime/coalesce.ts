/** Deltas on a bus that others share: the first of one turn of the event loop goes out at once, what follows it as one. */
import type { Address } from '../contracts/subjects.ts'
import type { OutputEvent } from './output-event.ts'

type Publish = (address: Address, output: OutputEvent) => void
type Delta = { type: 'delta'; runId: string; attempt: number; index: number; kind: string; text: string; count?: number }

/** Characters in one message. */
const textMax = 32 * 1024

const deltaIn = ({ event }: OutputEvent): Delta | undefined => (event.type === 'delta' ? (event as unknown as Delta) : undefined)

/** The same for whatever waits in a queue: of a machine of one's own it may be anything. */
export const joinedDeltas = (before: unknown, next: unknown): object | undefined =>
  isDelta(before) && isDelta(next) ? joined(before, next) : undefined

const isDelta = (item: unknown): item is Delta => {
  const { type, runId, index, text } = (item ?? {}) as Partial<Delta>
  return type === 'delta' && typeof runId === 'string' && typeof index === 'number' && typeof text === 'string'
}

/** One that says what both say; undefined where they are no neighbours. */
const joined = (before: Delta, next: Delta): Delta | undefined => {
  const { index, text, count = 1 } = before
  const follows = before.runId === next.runId && before.attempt === next.attempt && before.kind === next.kind && next.index === index + count
  return follows && text.length + next.text.length <= textMax ? { ...before, text: text + next.text, count: count + 1 } : undefined
}

/** The same, with fewer messages; what is said otherwise keeps its place among the deltas. */
export const coalesced = (publish: Publish): Publish => {
  /** By root: what waits for the end of this turn of the event loop. */
  const waiting = new Map<string, { address: Address; output: OutputEvent | undefined }>()

  const flush = (name: string): void => {
    const one = waiting.get(name)
    if (one?.output === undefined) return
    const { output } = one
    one.output = undefined
    publish(one.address, output)
  }

  return (address, output) => {
    const name = `${address.kind}/${address.id}`
    const delta = deltaIn(output)
    const open = waiting.get(name)
    if (delta === undefined || open === undefined) {
      flush(name)
      publish(address, output)
      if (delta === undefined || open !== undefined) return
      waiting.set(name, { address, output: undefined })
      setImmediate(() => {
        flush(name)
        waiting.delete(name)
      })
      return
    }
    const together = open.output && joined(deltaIn(open.output) as Delta, delta)
    if (open.output && !together) flush(name)
    open.output = together && open.output ? { ...open.output, event: together } : output
  }
}
