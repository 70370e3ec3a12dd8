import { assign, fromPromise, sendParent, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { SideInput, SideOutput, SideReport } from '../../contracts/beside.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'

/** ms after which nobody waits for the answer any more, restarts of the process included. */
const patienceMs = 120_000

/**
 * A question that is asked beside a conversation: one call of a model without tools, while the turn of its session goes on. Whatever becomes of it is told to the
 * session once; an answer that a crash has cut off is asked for again, as long as its time is not up.
 */
export const sideMachine = setup({
  types: {
    input: {} as SideInput,
    context: {} as SideInput & { error: ErrorBody | null },
    events: {} as { type: 'side.stop' },
  },
  actors: { ask: fromPromise<SideOutput, SideInput>(notProvided) },
  delays: { patience: patienceMs },
  actions: {
    rememberError: assign((_, { error }: { error: unknown }) => ({ error: errorBody(error) })),
    rememberTimeout: assign({ error: { code: 'provider_timeout', message: 'the model did not answer in time', retryable: true } }),
    tellAnswer: sendParent(
      ({ context: { id, text } }, { answer }: { answer: SideOutput }): SideReport => ({
        type: 'side.ended',
        id,
        question: text,
        status: 'completed',
        answer,
      }),
    ),
    tellFailure: sendParent(
      ({ context: { id, text, error } }): SideReport => ({
        type: 'side.ended',
        id,
        question: text,
        status: 'failed',
        error: error ?? { code: 'internal', message: 'it was not answered', retryable: false },
      }),
    ),
    tellStopped: sendParent(
      ({ context: { id, text } }): SideReport => ({
        type: 'side.ended',
        id,
        question: text,
        status: 'cancelled',
        error: { code: 'cancelled', message: 'it was stopped', retryable: false },
      }),
    ),
  },
}).createMachine({
  id: 'side',
  description: 'A question beside a conversation: one call of a model without tools.',
  context: ({ input }) => ({ ...input, error: null }),
  initial: 'asking',
  states: {
    asking: {
      description: 'The model is asked, on what the conversation is at this moment.',
      invoke: {
        id: 'ask',
        src: 'ask',
        input: ({ context: { session, id, text, profile } }) => ({ session, id, text, profile }),
        onDone: { target: 'answered', actions: { type: 'tellAnswer', params: ({ event }) => ({ answer: event.output }) } },
        onError: { target: 'failed', actions: { type: 'rememberError', params: ({ event }) => ({ error: event.error }) } },
      },
      after: { patience: { target: 'failed', actions: 'rememberTimeout' } },
      on: { 'side.stop': 'stopped' },
    },
    answered: { type: 'final' },
    failed: { type: 'final', entry: 'tellFailure' },
    stopped: { type: 'final', entry: 'tellStopped' },
  },
})
