/** What the events of one run come to, in whatever order and however often they arrive. */
import { definedOf } from '../../contracts/defined.ts'
import type { ChatBlock, ChatEvent, ToolEvent } from '../../contracts/gateway.ts'
import type { AnswerEnd, AnswerEntry, LiveRun, ToolFacts } from './chat-view.context.ts'
import { share, withEntry } from './share.rules.ts'

const newRun = (runId: string, life: number): LiveRun => ({
  runId,
  life,
  at: Number.POSITIVE_INFINITY,
  content: [],
  seq: 0,
  missing: [],
  brokenTo: 0,
  state: 'running',
  end: {},
  ids: [],
  tools: new Map(),
})

const stateOf = { delta: 'running', final: 'completed', aborted: 'stopped', error: 'failed' } as const satisfies Record<string, AnswerEntry['state']>

/** @param whole it is the answer to subscribing: it says how everything is, also where we had heard otherwise */
export const withChat = (before: LiveRun | undefined, event: ChatEvent, life: number, whole = false): LiveRun => {
  const run = before ?? newRun(event.runId, life)
  const { message, state, ids = [] } = event
  return {
    ...run,
    life,
    at: Math.min(run.at, message?.timestamp ?? Number.POSITIVE_INFINITY),
    ...(whole ? contentOf(run, event) : message ? contentAfter(run, message.content, event) : {}),
    ...(state === 'delta' ? {} : { state: stateOf[state], end: endOf(event) }),
    ids: ids.every((id) => run.ids.includes(id)) ? run.ids : [...new Set([...run.ids, ...ids])].sort(),
  }
}

const endOf = ({ model, usage, costUsd, durationMs, steps, stopReason, error, errorKind, injected, label }: ChatEvent): AnswerEnd =>
  definedOf({ model, usage, costUsd, durationMs, steps, stopReason, error, errorKind, injected, label })

type Content = Partial<Pick<LiveRun, 'content' | 'seq' | 'missing' | 'brokenTo'>>
/** What comes later than so many others were left out does not come any more. */
const gapsMax = 100

/** Another gateway, or one that was started anew, counts from one again: what it says to a subscriber is where its events go on from. */
const contentOf = ({ content }: LiveRun, { message, seq }: ChatEvent): Content => ({
  content: message?.content ?? content,
  seq,
  missing: [],
  brokenTo: 0,
})

/** What is left out was there before. */
const contentAfter = (run: LiveRun, content: readonly ChatBlock[], { seq, from }: ChatEvent): Content => {
  const broken: Content = { brokenTo: Math.max(run.brokenTo, run.seq, seq) }
  if (!from || (from.block === 0 && from.offset === 0)) {
    const isNewer = seq > run.seq || (run.brokenTo > 0 && seq === run.seq)
    return isNewer ? { content, seq, missing: [], brokenTo: seq >= run.brokenTo ? 0 : run.brokenTo } : {}
  }
  if (seq <= run.seq) return run.missing.some(([first, last]) => first <= seq && seq <= last) ? broken : {}
  const patched = run.brokenTo > 0 ? undefined : patch(run.content, content, from)
  if (!patched) return broken
  return { content: patched, seq, missing: seq === run.seq + 1 ? run.missing : [...run.missing.slice(-gapsMax), [run.seq + 1, seq - 1]] }
}

const wordsOf = (block: ChatBlock | undefined): string | undefined =>
  block?.type === 'text' ? block.text : block?.type === 'thinking' ? block.thinking : undefined

/** @returns undefined where it does not fit what is there */
const patch = (before: readonly ChatBlock[], now: readonly ChatBlock[], from: { block: number; offset: number }): ChatBlock[] | undefined => {
  if (from.block > before.length) return undefined
  const kept = before.slice(0, from.block)
  if (from.offset === 0) return [...kept, ...now]
  const [first, ...rest] = now
  const [old, more] = [before[from.block], first]
  const start = wordsOf(old)
  if (start === undefined || start.length < from.offset || old?.type !== more?.type || old?.id !== more?.id) return undefined
  const words = start.slice(0, from.offset) + wordsOf(more)
  return [...kept, { ...more, ...(more?.type === 'text' ? { text: words } : { thinking: words }) } as ChatBlock, ...rest]
}

/** It has ended while nobody listened; how, its history will say. */
export const withoutEnd = (run: LiveRun): LiveRun => ({ ...run, brokenTo: 0, state: run.state === 'running' ? 'completed' : run.state })

export const withTool = (before: LiveRun | undefined, event: ToolEvent, life: number): LiveRun => {
  const run = before ?? newRun(event.runId, life)
  return {
    ...run,
    life,
    at: Math.min(run.at, event.timestamp),
    tools: withEntry(run.tools, event.callId, toolAfter(run.tools.get(event.callId), event)),
  }
}

/** What has ended does not run again; else of each field what was said of it last. */
const toolAfter = (before: ToolFacts = {}, { toolName, state, input, progress, output, message, timestamp }: ToolEvent): ToolFacts => {
  const rank = timestamp + (state === 'running' ? 0 : endedRank)
  const after = { ...before }
  for (const [field, value] of Object.entries(definedOf({ name: toolName, state, input, progress, output, message })) as [
    keyof ToolFacts,
    unknown,
  ][]) {
    const old = before[field]
    if (!old || old.rank < rank || (old.rank === rank && isSmaller(old.value, value))) Object.assign(after, { [field]: { value, rank } })
  }
  return share(before, after)
}

/** Past all moments. */
const endedRank = 1e15
/** Any order will do between what was said at one moment, as long as it is always the same. */
const isSmaller = (a: unknown, b: unknown): boolean => JSON.stringify(a) < JSON.stringify(b)
