/** The facts of a conversation in the order in which they are drawn. */
import { definedOf } from '../../contracts/defined.ts'
import type { Approval } from '../../contracts/turn.ts'
import type { AnswerEntry, ChatView, Facts, LiveUser, RunningRun, ViewEntry, WaitingMessage } from './chat-view.context.ts'
import { share, shareList } from './share.rules.ts'

/** What belongs together: messages and the answer to them, or a notice. */
type Group = { key: string; at: number; users: LiveUser[]; entry?: ViewEntry }

/** The same view with what its facts make of it. */
export const laidOut = (view: ChatView): ChatView => {
  const { facts } = view
  const answeredBy = answersByMessage(facts)
  const joined = joinedIds(facts)
  const groups = new Map<string, Group>()
  const waiting: LiveUser[] = []
  const sending: LiveUser[] = []
  const group = (key: string, at: number): Group => {
    const known = groups.get(key)
    if (known) {
      known.at = Math.min(known.at, at)
      return known
    }
    const made = { key, at, users: [] }
    groups.set(key, made)
    return made
  }

  for (const [runId, { at }] of facts.runs) group(runId, at).entry = facts.answers.get(runId) as AnswerEntry
  const running = runningOf(view)
  for (const user of facts.users.values()) {
    const { id } = user
    if (facts.past.said.has(id) || joined.has(id)) continue
    const runId = answeredBy.get(id)
    const status = statusOf(user)
    // Its text stands in the history as part of the one that it was collected with.
    if (runId !== undefined && runId !== id && isQueued(status) && facts.past.said.has(runId)) continue
    if (runId !== undefined || status === 'said')
      group(runId ?? (user.event?.runId || id), user.event?.timestamp ?? Number.POSITIVE_INFINITY).users.push(user)
    else if (status === 'sending' && running === null) sending.push(user)
    else waiting.push(user)
  }

  const entries = withPast(facts, groups)
  sending.sort(byTime)
  for (const { entry } of sending) entries.push(entry)
  const coming = running?.runId ?? sending[0]?.id
  if (coming !== undefined && !facts.answers.has(coming)) entries.push(emptyAnswer(coming))
  const shared = entries.map((entry, place) =>
    entry.type === 'answer' && entry.blocks.length === 0 ? share(sameKey(view.entries, entry, place), entry) : entry,
  )
  const run = running && share(view.run ?? undefined, running)
  const old = new Map(view.waiting.map((one) => [one.id, one]))
  return {
    ...view,
    entries: shareList(view.entries, shared),
    waiting: shareList(
      view.waiting,
      inOrder(waiting, facts.queue).map((user) => share(old.get(user.id), waitingOf(user))),
    ),
    asides: shareList(
      view.asides,
      [...facts.asides.values()].sort((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1)),
    ),
    approvals: shareList(view.approvals, approvalsOf(facts)),
    run,
    busy: run !== null || [...facts.users.values()].some((user) => statusOf(user) === 'sending'),
    stale: [...facts.runs.values()].some(({ brokenTo }) => brokenTo > 0),
  }
}

/** The history, with what is newer, or no part of it, at its time. */
const withPast = (facts: Facts, groups: Map<string, Group>): ViewEntry[] => {
  const { past, runs, answers, notices } = facts
  const entries: ViewEntry[] = []
  const draw = ({ key, users, entry }: Group): void => {
    // That with the name of the run is the one that it began with.
    users.sort((a, b) => Number(b.id === key) - Number(a.id === key) || byTime(a, b))
    for (const user of users) entries.push(user.entry)
    if (entry && (users.length > 0 || past.said.has(key) || hasContent(entry))) entries.push(entry)
  }
  const drawAt = (key: string): void => {
    const found = groups.get(key)
    groups.delete(key)
    if (found) draw(found)
  }
  const isPast = (key: string): boolean => past.runs.has(key) || past.said.has(key)
  const alone = [...notices.values()].map((entry): Group => ({ key: entry.key, at: entry.at, users: [], entry }))
  const newer = [...groups.values()].filter(({ key }) => !isPast(key))
  for (const { key } of newer) groups.delete(key)
  newer.push(...alone)
  // `Infinity - Infinity` is no number.
  newer.sort((a, b) => (a.at === b.at ? (a.key < b.key ? -1 : 1) : a.at < b.at ? -1 : 1))
  let next = 0
  let at = 0
  for (const item of past.items) {
    const id = item.type === 'run' ? item.runId : item.id
    const time = item.at ?? runs.get(id)?.at
    if (time !== undefined && Number.isFinite(time)) at = Math.max(at, time)
    for (; (newer[next]?.at ?? Number.POSITIVE_INFINITY) < at; next++) draw(newer[next] as Group)
    if (item.type === 'entry') {
      entries.push(item.entry)
      // Its answer has no message in the history yet.
      if (!past.runs.has(item.id)) drawAt(item.id)
    } else {
      draw({ at, key: id, users: groups.get(id)?.users ?? [], entry: answers.get(id) as AnswerEntry })
      groups.delete(id)
    }
  }
  for (const one of newer.slice(next)) draw(one)
  // What joined another run, and got one of its own as well.
  for (const one of groups.values()) draw(one)
  return entries
}

/** A run that was stopped, or had nothing to say, before anybody saw anything of it. */
const hasContent = (entry: ViewEntry): boolean =>
  entry.type !== 'answer' || entry.blocks.length > 0 || entry.state === 'running' || entry.state === 'failed'

const inOrder = (waiting: LiveUser[], queue: readonly string[]): LiveUser[] => {
  const places = new Map(queue.map((id, place) => [id, place]))
  const placeOf = ({ id }: LiveUser): number => places.get(id) ?? queue.length
  return waiting.sort((a, b) => placeOf(a) - placeOf(b) || byTime(a, b))
}

const byTime = (a: LiveUser, b: LiveUser): number => timeOf(a) - timeOf(b) || (a.id < b.id ? -1 : 1)
const timeOf = ({ event, own }: LiveUser): number => event?.timestamp ?? own?.at ?? 0

const sameKey = (before: readonly ViewEntry[], { key }: AnswerEntry, place: number): AnswerEntry | undefined => {
  const found = before[place]?.key === key ? before[place] : before.findLast((one) => one.key === key)
  return found?.type === 'answer' ? found : undefined
}

const emptyAnswer = (runId: string): AnswerEntry => ({ type: 'answer', key: `answer ${runId}`, runId, state: 'running', blocks: [] })

type Status = WaitingMessage['status'] | 'said'

const waits: readonly string[] = ['queued', 'collected', 'steered']
const isQueued = (status: Status): boolean => status === 'queued' || status === 'collected'

/** What the session says of it is newer than what its sender was told, and that than what he knows himself. */
const statusOf = ({ event, answer, own }: LiveUser): Status => {
  const status = event?.status ?? answer?.status
  if (status === undefined) return own?.state ?? 'said'
  return waits.includes(status) ? (status as Status) : 'said'
}

const waitingOf = (user: LiveUser): WaitingMessage => {
  const { id, event, own } = user
  const status = statusOf(user) as WaitingMessage['status']
  return {
    id,
    status,
    ...definedOf({
      text: own?.text ?? event?.text,
      files: own?.files ?? event?.files,
      error: status === 'refused' || status === 'unsent' ? own?.error : undefined,
    }),
  }
}

const answersByMessage = ({ runs, past }: Facts): Map<string, string> => {
  const by = new Map<string, string>()
  for (const { runId, ids } of runs.values()) for (const id of [runId, ...ids]) by.set(id, runId)
  for (const runId of past.runs.keys()) by.set(runId, runId)
  return by
}

const joinedIds = ({ runs }: Facts): Set<string> => {
  const ids = new Set<string>()
  for (const { content } of runs.values()) for (const block of content) if (block.type === 'joined') ids.add(block.id)
  return ids
}

/** The newest that has not ended: one that speaks, else one that the session, or the answer to a message, says is going on. */
const runningOf = ({ facts }: ChatView): RunningRun | null => {
  const { runs, users, past, doing } = facts
  const isOver = (runId: string): boolean => (runs.has(runId) ? runs.get(runId)?.state !== 'running' : past.runs.has(runId))
  let found: { runId: string; at: number } | undefined
  const look = (runId: string, at: number): void => {
    if (!found || at > found.at || (at === found.at && runId > found.runId)) found = { runId, at }
  }
  for (const { runId, state, at } of runs.values()) if (state === 'running') look(runId, at)
  if (!found)
    for (const { id, event, answer } of users.values()) {
      const { status, runId } = event ?? answer ?? {}
      if (status === 'started' && !isOver(runId || id)) look(runId || id, event?.timestamp ?? 0)
    }
  const isDoing = doing?.runId !== undefined && doing.runId !== '' && doing.state.startsWith('running') && !isOver(doing.runId)
  if (!found && isDoing) look(doing?.runId as string, 0)
  if (!found) return null
  const { runId } = found
  // Whatever else it says meanwhile, it does not go on before it is answered.
  if (approvalsOf(facts).some((approval) => approval.runId === runId)) return { runId, state: 'running.awaiting-input' }
  return { runId, ...(doing?.runId === runId ? definedOf({ state: doing.state, detail: doing.detail }) : {}) }
}

const approvalsOf = ({ asked, decided, runs }: Facts): Approval[] =>
  [...asked.values()]
    .filter(({ approval: { callId, runId }, at }) => {
      const run = runs.get(runId)
      const state = run?.tools.get(callId)?.state?.value
      return (decided.get(callId)?.at ?? -1) < at && (run?.state ?? 'running') === 'running' && (state ?? 'running') === 'running'
    })
    .sort((a, b) => a.at - b.at || (a.approval.callId < b.approval.callId ? -1 : 1))
    .map(({ approval }) => approval)
