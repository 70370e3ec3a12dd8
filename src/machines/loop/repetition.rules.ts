/** Calls that lead nowhere: of tools that do not exist, and, where an agent wants it, the same ones over and over. */

import type { ErrorBody } from '../../contracts/errors.ts'
import type { LoopDetection } from '../../contracts/profile.ts'
import type { ToolCall } from '../../contracts/tool.ts'

/** What of a call counts when it is compared: for which tool, with what, and what came of it. */
type Seen = { key: string; result: string }
/** @property unknown calls in a row of tools that do not exist @property afterCompaction calls for which a repetition ends the run */
export type Watch = { unknown: number; seen: Seen[]; afterCompaction?: number; over?: ErrorBody }
export const nothingSeen: Watch = { unknown: 0, seen: [] }

const unknownMax = 10
/** Calls that are remembered. */
const seenMax = 30
const figuresOf = ({ warn = 10, block = 20, end = seenMax }: LoopDetection) => ({ warn, block, end })
/** Calls after a compaction that had to be made: a model that has lost its place tends to begin anew. */
const watchedAfterCompaction = 3

// ---- Tools that do not exist

export const unknownSince = (watch: Watch, calls: readonly ToolCall[]): Watch => {
  const unknown = calls.reduce((count, { problem }) => (problem?.code === 'tool_unknown' ? count + 1 : 0), watch.unknown)
  return unknown === watch.unknown ? watch : { ...watch, unknown }
}

/** Why the run ends here, if it does. */
export const deadEnd = ({ unknown, over }: Watch): ErrorBody | undefined =>
  unknown < unknownMax
    ? over
    : {
        code: 'tool_unknown',
        message: `the model asked ${unknown} times in a row for tools that do not exist`,
        retryable: false,
        hint: 'give the agent the tools that its instructions speak of, or another model',
      }

// ---- Repetition

/** What a tool that is asked how far something is gets beside that: how long to wait, and from where on to tell. */
const waitingFields = /^(?:timeout|timeoutMs|wait|waitMs|delay|delayMs|intervalMs|offset|limit|cursor)$/
const pollName = /(?:^|_)(?:poll|status|wait)(?:$|_)/i
const pollActions = new Set<unknown>(['poll', 'log', 'status', 'wait'])

const isPoll = ({ name, input }: Pick<ToolCall, 'name' | 'input'>): boolean =>
  pollName.test(name) || (typeof input === 'object' && input !== null && pollActions.has((input as { action?: unknown }).action))

/** Two calls with one key ask for the same. */
const keyOf = ({ name, input, inputHash }: Pick<ToolCall, 'name' | 'input' | 'inputHash'>): string => {
  if (!isPoll({ name, input }) || typeof input !== 'object' || input === null) return `${name} ${inputHash}`
  const asked = Object.entries(input).filter(([field]) => !waitingFields.test(field))
  return `${name} ${JSON.stringify(asked.sort(([a], [b]) => (a < b ? -1 : 1)))}`
}

/** Enough to tell whether two results are the same: 53 bits. */
const resultMark = (output: unknown): string => {
  const text = JSON.stringify(output) ?? ''
  let [low, high] = [0xdeadbeef, 0x41c6ce57]
  for (let index = 0; index < text.length; index++) {
    low = Math.imul(low ^ text.charCodeAt(index), 2654435761)
    high = Math.imul(high ^ text.charCodeAt(index), 1597334677)
  }
  return `${text.length}.${(low >>> 0).toString(36)}.${(high >>> 0).toString(36)}`
}

/** How often this was asked at the end with one and the same result; what stands between plays no part. */
const repeated = (seen: readonly Seen[], key: string): number => {
  const same = seen.filter((one) => one.key === key)
  const other = same.findLastIndex(({ result }) => result !== same.at(-1)?.result)
  return same.length - 1 - other
}

/** How many calls at the end went to and fro between this one and one other, each with one and the same result. */
const alternating = (seen: readonly Seen[], key: string): number => {
  const other = seen.at(-1)
  if (other === undefined || other.key === key) return 0
  const results = new Map<string, string>()
  let count = 0
  for (const { key: at, result } of seen.toReversed()) {
    if (at !== (count % 2 === 0 ? other.key : key) || (results.get(at) ?? result) !== result) break
    results.set(at, result)
    count++
  }
  return count > 1 ? count : 0
}

type Verdict = { level: 'warning' | 'blocked'; message: string }

/** What is to be said of a call before it runs, after what has been seen. */
export const verdictOf = ({ seen }: Watch, call: ToolCall, wanted: LoopDetection): Verdict | undefined => {
  const { warn, block } = figuresOf(wanted)
  const key = keyOf(call)
  const same = repeated(seen, key) + 1
  const toAndFro = alternating(seen, key) + 1
  const count = Math.max(same, toAndFro)
  if (count < warn) return undefined
  const what =
    same >= toAndFro
      ? `${isPoll(call) ? 'it was asked' : 'the same call was made'} ${count} times with the same result`
      : `${count} calls went to and fro between two of them with the same results`
  return count >= block
    ? { level: 'blocked', message: `not run: ${what}; do something else, or say what keeps you from going on` }
    : { level: 'warning', message: what }
}

/** A call has ended. What was blocked came to nothing new. */
export const seenMore = (watch: Watch, call: ToolCall, output: unknown, wanted: LoopDetection): Watch => {
  const key = keyOf(call)
  const before = watch.seen.findLast((one) => one.key === key)
  const result = call.problem?.code === 'tool_loop' && before ? before.result : resultMark(output)
  const seen = [...watch.seen, { key, result }].slice(-seenMax)
  const { afterCompaction = 0, over, ...rest } = watch
  const count = Math.max(repeated(seen, key), alternating(seen.slice(0, -1), key) + 1)
  const repeats = afterCompaction > 0 && before?.result === result
  const { end } = figuresOf(wanted)
  const ended = over ?? (count >= end ? circling(`the same was asked ${count} times with the same result`) : repeats ? circling(afterAll) : undefined)
  return {
    ...rest,
    seen,
    ...(afterCompaction > 1 && { afterCompaction: afterCompaction - 1 }),
    ...(ended && { over: ended }),
  }
}
const afterAll = 'after its history was shortened, the model asked for the same again and got the same'

const circling = (why: string): ErrorBody => ({
  code: 'tool_loop',
  message: `the turn goes in circles: ${why}`,
  retryable: false,
  hint: 'say what it should do instead, or raise loopDetection of the agent',
})

/** The history had to be shortened: a repetition of what came before is a bad sign now. */
export const shortenedSince = (watch: Watch): Watch => ({ ...watch, afterCompaction: watchedAfterCompaction })
