/** One conversation as a page draws it: a fold over what the gateway says, what its history holds and what is said here. */

import { definedOf } from '../../contracts/defined.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { EventFrame, MessageEvent, Subscribed } from '../../contracts/gateway.ts'
import { sideQuestion } from '../../contracts/side-question.rules.ts'
import type { Approval } from '../../contracts/turn.ts'
import { answerOf } from './chat-answer.rules.ts'
import { withQuestion, withResult } from './chat-asides.rules.ts'
import { pastOf } from './chat-history.rules.ts'
import { laidOut } from './chat-layout.rules.ts'
import { withChat, withoutEnd, withTool } from './chat-run.rules.ts'
import {
  type AnswerEntry,
  type ChatAction,
  type ChatView,
  type Decided,
  type Facts,
  type LiveRun,
  type LiveUser,
  noFacts,
  type SideOutcome,
  type UserEntry,
} from './chat-view.context.ts'
import { share, withEntry } from './share.rules.ts'

/** What changes nothing gives the same object back. */
export const viewOf = (view: ChatView, action: ChatAction): ChatView => {
  const after = reduced(view, action)
  return after === view ? view : laidOut(after)
}

const reduced = (view: ChatView, action: ChatAction): ChatView => {
  switch (action.type) {
    case 'connected':
      return view.connected ? view : { ...view, connected: true }
    case 'disconnected':
      // Whatever happens from now on is not heard.
      return view.connected ? { ...withFacts(view, { doing: undefined }), connected: false, history: 'wanted', life: view.life + 1 } : view
    case 'opened':
      return action.sessionKey === view.sessionKey && action.life === view.life ? opened(view, action) : view
    case 'looked':
      return action.sessionKey === view.sessionKey && action.life === view.life ? looked(view, action) : view
    case 'subscribed':
      return action.answer.sessionKey === view.sessionKey ? subscribed(view, action.answer) : view
    case 'subscribe.failed':
      return action.sessionKey === view.sessionKey ? { ...view, error: action.error } : view
    case 'event': {
      const { sessionKey } = (action.frame.payload ?? {}) as { sessionKey?: string }
      return sessionKey === view.sessionKey ? heard(view, action.frame) : view
    }
    case 'dismissed':
      return withFacts(view, { asides: withEntry(view.facts.asides, action.key, undefined) })
    default:
      return spoken(view, action)
  }
}

// ---- what is said here

const spoken = (view: ChatView, action: Extract<ChatAction, { id: string }>): ChatView => {
  const known = view.facts.users.get(action.id)
  switch (action.type) {
    case 'said': {
      const { text, files, at } = action
      return withUser(view, action.id, { own: { text, files, at: known?.own?.at ?? at, state: view.connected ? 'sending' : 'unsent' } })
    }
    case 'taken': {
      // The answer of a repeat says no more than that it is one.
      const { status, runId, outcome } = action
      if (status === 'side') return askedAside(view, action.id, outcome)
      if (!known || (status === 'duplicate' && known.answer)) return view
      return withUser(view, action.id, { answer: { status, ...definedOf({ runId }) } })
    }
    case 'refused': {
      if (!known?.own || known.answer || known.event) return view
      const { error } = action
      const state = isRuntimeError(error) && error.retryable ? 'unsent' : 'refused'
      return withUser(view, action.id, { own: { ...known.own, state, error } })
    }
    case 'withdrawn':
      return known?.own && !known.answer && !known.event ? withFacts(view, { users: withEntry(view.facts.users, action.id, undefined) }) : view
  }
}

const withUser = (view: ChatView, id: string, change: Partial<Pick<LiveUser, 'own' | 'answer' | 'event'>>): ChatView => {
  const { users } = view.facts
  const before = users.get(id)
  const user = { ...before, ...change }
  const { own, answer, event } = user
  const entry: UserEntry = {
    type: 'user',
    key: `user ${id}`,
    id,
    status: answer || event ? 'said' : 'sending',
    ...definedOf({ text: own?.text ?? event?.text, files: own?.files ?? event?.files, at: event?.timestamp ?? own?.at }),
  }
  return withFacts(view, { users: withEntry(users, id, { ...user, id, life: view.life, entry: share(before?.entry, entry) }) })
}

// ---- what the gateway says

const heard = (view: ChatView, { event, payload }: EventFrame): ChatView => {
  const { facts, life } = view
  switch (event) {
    case 'chat':
      return withRun(view, withChat(facts.runs.get(payload.runId), payload, life))
    case 'session.tool':
      return withRun(view, withTool(facts.runs.get(payload.runId), payload, life))
    case 'session.message': {
      const known = facts.users.get(payload.id)?.event
      return known && !isLater(payload, known) ? view : withUser(view, payload.id, { event: payload })
    }
    case 'session.state': {
      const { doing } = facts
      const isOld = doing && (doing.timestamp > payload.timestamp || (doing.timestamp === payload.timestamp && doing.state >= payload.state))
      return isOld ? view : withFacts(view, { doing: payload })
    }
    case 'session.notice': {
      const { id, text, timestamp: at } = payload
      const key = `notice ${at} ${id ?? ''} ${text}`
      return facts.notices.has(key)
        ? view
        : withFacts(view, { notices: withEntry(facts.notices, key, { type: 'notice', key, text, at, ...definedOf({ id }) }) })
    }
    case 'chat.side_result':
      return withFacts(withoutUser(view, payload.runId), { asides: withResult(facts.asides, payload) })
    case 'session.restart':
      return restarted(view)
    case 'approval.requested':
      return asked(view, payload.approval, payload.timestamp)
    case 'approval.resolved': {
      const { callId, decision, remember, by, timestamp: at } = payload
      const decided: Decided = { decision, at, ...definedOf({ remember, by }) }
      const known = facts.decided.get(callId)
      return known && !isNewer(decided, known) ? view : withFacts(view, { decided: withEntry(facts.decided, callId, decided) })
    }
    default:
      return view
  }
}

/** A side question is no message of the conversation. */
const askedAside = (view: ChatView, id: string, outcome: SideOutcome | undefined): ChatView => {
  const { text = '', at = 0 } = view.facts.users.get(id)?.own ?? {}
  const question = sideQuestion(text)
  return withFacts(withoutUser(view, id), { asides: withQuestion(view.facts.asides, id, { at, outcome, ...definedOf({ question }) }) })
}
/** What a run comes upon has its name too: only what has not become a message of the conversation is none. */
const withoutUser = (view: ChatView, id: string): ChatView => {
  const { users } = view.facts
  const user = users.get(id)
  return user && isOurs(user) && sideQuestion(user.own?.text ?? '') !== undefined ? withFacts(view, { users: withEntry(users, id, undefined) }) : view
}

/** How far a message can have come by then. */
const steps: MessageEvent['status'][] = ['queued', 'collected', 'steered', 'started', 'answered']
const isLater = (a: MessageEvent, b: MessageEvent): boolean =>
  a.timestamp > b.timestamp || (a.timestamp === b.timestamp && steps.indexOf(a.status) > steps.indexOf(b.status))

/** Any order will do between two of one moment, as long as it is always the same. */
const isNewer = (a: Decided, b: Decided): boolean => a.at > b.at || (a.at === b.at && JSON.stringify(a) < JSON.stringify(b))

const asked = (view: ChatView, approval: Approval, at: number): ChatView => {
  const before = view.facts.asked.get(approval.callId)
  if (before && before.at >= at) return view
  return withFacts(view, { asked: withEntry(view.facts.asked, approval.callId, { approval, at, life: view.life }) })
}

/** Nothing of it is to be seen any more, but for what has not been sent. */
const restarted = (view: ChatView): ChatView => {
  const users = new Map([...view.facts.users].filter(([, user]) => isOurs(user)))
  return { ...view, facts: { ...noFacts, users }, history: 'wanted', life: view.life + 1 }
}

/** The session does not know of it, as far as we know. */
const isOurs = ({ own, answer, event }: LiveUser): boolean => own !== undefined && !answer && !event

const subscribed = (view: ChatView, { run, tools }: Subscribed): ChatView => {
  // Where nothing was heard of the end of a run, its history tells.
  const ended = [...view.facts.runs.values()].filter(({ runId, state, brokenTo }) => runId !== run?.runId && (state === 'running' || brokenTo > 0))
  let after: ChatView = { ...view, error: undefined, ...(ended.length > 0 ? { history: 'wanted' as const } : {}) }
  for (const one of ended) after = withRun(after, withoutEnd(one))
  if (run) after = withRun(after, withChat(after.facts.runs.get(run.runId), run, view.life, true))
  for (const tool of tools) after = withRun(after, withTool(after.facts.runs.get(tool.runId), tool, view.life))
  return after
}

// ---- what is read

/** What was heard in this life may be newer than the history, what was heard before is in it. */
const opened = (view: ChatView, { messages, runs: ended = [] }: Extract<ChatAction, { type: 'opened' }>): ChatView => {
  const { facts, life } = view
  const past = pastOf(messages, ended, (id) => facts.past.said.get(id) ?? facts.users.get(id)?.entry)
  const runs = new Map([...facts.runs].filter(([, run]) => run.life === life))
  const stays = (user: LiveUser): boolean => user.life === life || isOurs(user) || isWaiting(user)
  const users = new Map([...facts.users].filter(([, user]) => stays(user)))
  const answers = new Map<string, AnswerEntry>()
  for (const runId of new Set([...past.runs.keys(), ...runs.keys()]))
    answers.set(runId, answerOf({ sessionKey: view.sessionKey, runId, past: past.runs.get(runId), live: runs.get(runId) }, facts.answers.get(runId)))
  return arrived({ ...view, history: 'read', facts: { ...facts, past, runs, users, answers } }, past.said.keys())
}

const isWaiting = ({ answer, event }: LiveUser): boolean => ['queued', 'collected', 'steered'].includes(event?.status ?? answer?.status ?? '')

const looked = (view: ChatView, { queued, run, approvals, waiting = [] }: Extract<ChatAction, { type: 'looked' }>): ChatView => {
  const { life, facts } = view
  const has = new Set([...queued, ...(run?.ids ?? [])])
  const isGone = (user: LiveUser): boolean => user.life !== life && isWaiting(user) && !has.has(user.id)
  let after = withFacts(view, {
    users: new Map([...facts.users].filter(([, user]) => !isGone(user))),
    asked: new Map([...facts.asked].filter(([, one]) => one.life === life)),
    queue: queued,
  })
  for (const id of queued) if (!facts.users.has(id)) after = withUser(after, id, { answer: { status: 'queued' } })
  for (const { id, text, files } of waiting) {
    const known = after.facts.users.get(id)
    // What waits and is not queued joins the turn that runs.
    const status = known ? (known.event ?? known.answer)?.status : run && !run.ids.includes(id) ? 'steered' : undefined
    if (status !== 'steered' && status !== 'queued' && status !== 'collected') continue
    const payload: MessageEvent = {
      sessionKey: view.sessionKey,
      id,
      runId: '',
      status,
      text,
      ...definedOf({ files: files && [...files] }),
      timestamp: 0,
    }
    after = heard(after, { type: 'event', event: 'session.message', payload })
  }
  for (const approval of approvals) {
    const decidedAt = facts.decided.get(approval.callId)?.at
    // An answer that was given meanwhile is newer, unless it was to an earlier question.
    if (decidedAt === undefined || approval.attempt > (facts.asked.get(approval.callId)?.approval.attempt ?? approval.attempt))
      after = asked(after, approval, (decidedAt ?? 0) + 1)
  }
  return after
}

// ----

const withRun = (view: ChatView, run: LiveRun): ChatView => {
  const { facts, sessionKey } = view
  const { runId } = run
  const answer = answerOf({ sessionKey, runId, past: facts.past.runs.get(runId), live: run }, facts.answers.get(runId))
  const after = withFacts(view, { runs: withEntry(facts.runs, runId, run), answers: withEntry(facts.answers, runId, answer) })
  return arrived(after, [runId, ...run.ids, ...run.content.flatMap((block) => (block.type === 'joined' ? [block.id] : []))])
}

/** The session shows that it has taken them, before its answer says so, or where that was lost. */
const arrived = (view: ChatView, ids: Iterable<string>): ChatView => {
  let after = view
  for (const id of ids) {
    const user = view.facts.users.get(id)
    if (user && isOurs(user)) after = withUser(after, id, { answer: { status: 'answered' } })
  }
  return after
}

const withFacts = (view: ChatView, change: Partial<Facts>): ChatView => ({ ...view, facts: { ...view.facts, ...change } })
