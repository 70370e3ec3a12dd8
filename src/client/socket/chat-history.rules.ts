/** A history as runs with what was said before and within them. */
import { definedOf } from '../../contracts/defined.ts'
import {
  type HistoryMessage,
  type HistoryRun,
  type Past,
  type PastItem,
  type PastMessage,
  type PastPart,
  type PastResult,
  runOf,
  type UserEntry,
} from './chat-view.context.ts'
import { share } from './share.rules.ts'

type UserSaid = Extract<HistoryMessage, { role: 'user' }>
type Open = { runId: string; at?: number; end?: HistoryRun; parts: (PastPart & { results?: (PastResult | undefined)[] })[] }

/** @param ended how the runs ended @param shown how a message was shown so far: what is equal is kept */
export const pastOf = (messages: readonly HistoryMessage[], ended: readonly HistoryRun[], shown: (id: string) => UserEntry | undefined): Past => {
  const items: PastItem[] = []
  const runs = new Map<string, Open>()
  const said = new Map<string, UserEntry | undefined>()
  /** Said since the last answer: before the next one, or within it. */
  let since: UserSaid[] = []
  let newest: Open | undefined

  const say = ({ id, text, files, at, cut }: UserSaid): void => {
    const entry = share(shown(id), { type: 'user', key: `user ${id}`, id, status: 'said', text, ...definedOf({ files, at, cut: cut?.text }) })
    said.set(id, entry)
    items.push({ type: 'entry', id, entry, ...definedOf({ at }) })
  }
  const sayAll = (): void => {
    for (const message of since) say(message)
    since = []
  }
  const answer = (message: PastMessage): void => {
    const runId = runOf(message.id)
    const part: PastPart = { type: 'message', message, results: message.calls.map(() => undefined) }
    if (newest?.runId === runId) {
      for (const { id, text, files, cut } of since) {
        said.set(id, undefined)
        newest.parts.push({ type: 'joined', id, text, files, cut: cut?.text })
      }
      since = []
    } else {
      sayAll()
      newest = runs.get(runId)
    }
    if (!newest) {
      newest = { runId, parts: [], ...definedOf({ at: message.at }) }
      runs.set(runId, newest)
      items.push({ type: 'run', runId, ...definedOf({ at: message.at }) })
    }
    newest.parts.push(part as Open['parts'][number])
  }
  /** Providers use a name again: it is that of the newest call which has no result yet. */
  const attach = (result: PastResult): void => {
    for (const part of newest?.parts.toReversed() ?? []) {
      if (part.type !== 'message') continue
      const nth = part.message.calls.findIndex(({ callId }, place) => callId === result.callId && part.results[place] === undefined)
      if (nth === -1) continue
      ;(part.results as (PastResult | undefined)[])[nth] = result
      return
    }
  }

  for (const message of messages) {
    if (message.role === 'user') since.push(message)
    else if (message.role === 'assistant') answer(message)
    else if (message.role === 'tool') attach(message)
    else {
      sayAll()
      const { id, text, at } = message
      items.push({ type: 'entry', id, entry: { type: 'summary', key: `summary ${id}`, text }, ...definedOf({ at }) })
    }
  }
  sayAll()
  for (const end of ended) {
    const run = runs.get(end.runId)
    if (run) run.end = end
    else if (end.status === 'failed') placeSilent(items, runs, end)
  }
  return { items, runs, said }
}

/** A run that failed before the model had said anything stands behind what it was to answer. */
const placeSilent = (items: PastItem[], runs: Map<string, Open>, end: HistoryRun): void => {
  const place = items.findLastIndex((item) => item.type === 'entry' && end.ids.includes(item.id))
  if (place === -1) return
  runs.set(end.runId, { runId: end.runId, parts: [], end, ...definedOf({ at: items[place]?.at }) })
  items.splice(place + 1, 0, { type: 'run', runId: end.runId, ...definedOf({ at: items[place]?.at }) })
}
