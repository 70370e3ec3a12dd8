import { emit, enqueueActions, fromPromise, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { Approval } from '../../contracts/turn.ts'

type PromptEvent =
  /** Something of the answer has gone to the caller. */
  | { type: 'said' }
  /** A tool call of the turn waits for a person. */
  | { type: 'approval'; approval: Approval }
  /** A decision about it was made, here or through another door. */
  | { type: 'decided'; callId: string }
  /** What the caller answered to a question. */
  | { type: 'reply'; callId: string; text: string }
  /** The caller has not answered a question in time. */
  | { type: 'silence'; callId: string; attempt: number }
  /** The decision of the caller was not taken. */
  | { type: 'undecided'; callId: string; error: ErrorBody }

/** What is to go to the caller, or to be done about the subjects on which it answers. */
type PromptEmitted =
  | { type: 'ack' }
  | { type: 'question'; approval: Approval; why?: string }
  | { type: 'question.over'; callId: string }
  | { type: 'error'; error: ErrorBody }
  | { type: 'end' }

export type PromptDecision = { approval: Approval; decision: 'approve' | 'deny' }

type Context = {
  /** Questions without an answer, by call. */
  open: Record<string, Approval>
}

const yes = /^(?:y|yes|ok|okay|allow|approve)[.!]?$/i
const no = /^(?:n|no|deny|refuse)[.!]?$/i

const without = (open: Context['open'], callId: string): Context['open'] => {
  const { [callId]: _, ...rest } = open
  return rest
}

/**
 * One prompt of the agent protocol, from its acknowledgement to the end of its reply stream. The text of the answer passes beside the machine. A reply to a question
 * that is neither yes nor no makes the machine ask again.
 */
export const promptMachine = setup({
  types: {
    context: {} as Context,
    events: {} as PromptEvent,
    emitted: {} as PromptEmitted,
  },
  actors: {
    /** Hands the prompt to its session, and everything that is said about it to the caller and to this machine. */
    answer: fromPromise<void>(notProvided),
    /** Never rejects: what keeps it from being taken comes as `undecided`. */
    decide: fromPromise<void, PromptDecision>(notProvided),
  },
  guards: {
    isAsked: ({ context: { open }, event }) => event.type === 'approval' && open[event.approval.callId]?.attempt === event.approval.attempt,
    isOpen: ({ context: { open }, event }) => 'callId' in event && event.callId in open,
    isNotOpen: ({ context: { open }, event }) => !('callId' in event && event.callId in open),
    isUnanswered: ({ context: { open }, event }) => event.type === 'silence' && open[event.callId]?.attempt === event.attempt,
    agrees: ({ event }) => event.type === 'reply' && yes.test(event.text.trim()),
    refuses: ({ event }) => event.type === 'reply' && no.test(event.text.trim()),
  },
  actions: {
    acknowledge: emit({ type: 'ack' }),
    ask: enqueueActions(({ context: { open }, event, enqueue }) => {
      if (event.type !== 'approval') return
      const { approval } = event
      enqueue.assign({ open: { ...open, [approval.callId]: approval } })
      enqueue.emit({ type: 'question', approval })
      const { callId, attempt, why, deadline } = approval
      // A call in doubt waits until a person has looked, and an agent's own deadline holds.
      if (why === 'approval' && deadline === undefined) enqueue.raise({ type: 'silence', callId, attempt }, { id: callId, delay: 'answer' })
    }),
    askAgain: enqueueActions(({ context: { open }, event, enqueue }, { why }: { why: string }) => {
      const approval = 'callId' in event ? open[event.callId] : undefined
      if (approval) enqueue.emit({ type: 'question', approval, why })
    }),
    decide: enqueueActions(({ context: { open }, event, enqueue }, { decision }: Pick<PromptDecision, 'decision'>) => {
      const approval = 'callId' in event ? open[event.callId] : undefined
      if (approval) enqueue.spawnChild('decide', { input: { approval, decision } })
    }),
    closeQuestion: enqueueActions(({ context: { open }, event, enqueue }) => {
      if (event.type !== 'decided') return
      enqueue.assign({ open: without(open, event.callId) })
      enqueue.cancel(event.callId)
      enqueue.emit({ type: 'question.over', callId: event.callId })
    }),
    closeQuestions: enqueueActions(({ context: { open }, enqueue }) => {
      for (const callId of Object.keys(open)) enqueue.emit({ type: 'question.over', callId })
      enqueue.assign({ open: {} })
    }),
    sayError: emit((_, { error }: { error: unknown }): PromptEmitted => ({ type: 'error', error: errorBody(error) })),
    sayEnd: emit({ type: 'end' }),
  },
  delays: {
    /** Callers give up after 60 s in which they receive nothing. */
    keepAlive: 20_000,
    /** A caller is a program: it answers soon, or not at all. */
    answer: 120_000,
  },
}).createMachine({
  id: 'prompt',
  description: 'One prompt of the agent protocol, from its acknowledgement to the end of its reply stream.',
  context: { open: {} },
  initial: 'open',
  states: {
    open: {
      description: 'The session answers; questions to the caller are open beside it.',
      entry: 'acknowledge',
      exit: 'closeQuestions',
      invoke: {
        id: 'answer',
        src: 'answer',
        onDone: 'ended',
        onError: { target: 'failed', actions: { type: 'sayError', params: ({ event }) => ({ error: event.error }) } },
      },
      on: {
        said: '.quiet',
        approval: [{ guard: 'isAsked' }, { target: '.quiet', actions: 'ask' }],
        decided: { guard: 'isOpen', actions: 'closeQuestion' },
        reply: [
          { guard: 'isNotOpen' },
          { guard: 'agrees', actions: { type: 'decide', params: { decision: 'approve' } } },
          { guard: 'refuses', actions: { type: 'decide', params: { decision: 'deny' } } },
          { target: '.quiet', actions: { type: 'askAgain', params: { why: 'please answer yes or no' } } },
        ],
        silence: { guard: 'isUnanswered', actions: { type: 'decide', params: { decision: 'deny' } } },
        undecided: { guard: 'isOpen', target: '.quiet', actions: { type: 'askAgain', params: ({ event }) => ({ why: event.error.message }) } },
      },
      initial: 'quiet',
      states: {
        quiet: {
          description: 'Since something was said last.',
          after: { keepAlive: { target: 'quiet', reenter: true, actions: 'acknowledge' } },
        },
      },
    },
    failed: { entry: 'sayEnd', type: 'final' },
    ended: { entry: 'sayEnd', type: 'final' },
  },
})
