import { assign, setup } from 'xstate'

/** What the turn tells its stream; the deltas themselves pass beside the machine. */
export type StreamEvent =
  | { type: 'stream.start'; attempt: number }
  | { type: 'stream.end'; chars: number }
  | { type: 'stream.close' }
  | { type: 'stream.abort' }
  | { type: 'stream.fail' }

/** Attempts that were made, and the characters of those that were answered. */
export type StreamOutput = { attempts: number; chars: number }

/**
 * The output of one turn on its way to whoever listens. It spans all model calls of the turn; a new attempt replaces what the one before it said.
 *
 * | state          | on           | next           |
 * | -------------- | ------------ | -------------- |
 * | open.buffering | stream.start | open.flushing  |
 * | open.flushing  | stream.start | open.flushing  |
 * | open.flushing  | stream.end   | open.buffering |
 * | open           | stream.close | draining       |
 * | open           | stream.abort | aborted        |
 * | open           | stream.fail  | failed         |
 * | draining       |              | closed         |
 */
export const streamMachine = setup({
  types: {
    input: {} as { runId: string },
    context: {} as { runId: string; attempts: number; chars: number },
    output: {} as StreamOutput,
    events: {} as StreamEvent,
  },
  actions: {
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    countOutput: assign(({ context, event }) => (event.type === 'stream.end' ? { chars: context.chars + event.chars } : {})),
  },
}).createMachine({
  id: 'stream',
  description: 'The output of one turn on its way to whoever listens.',
  context: ({ input }) => ({ ...input, attempts: 0, chars: 0 }),
  output: ({ context: { attempts, chars } }) => ({ attempts, chars }),
  initial: 'open',
  states: {
    open: {
      initial: 'buffering',
      on: { 'stream.close': 'draining', 'stream.abort': 'aborted', 'stream.fail': 'failed' },
      states: {
        buffering: { description: 'Nothing is in flight.', on: { 'stream.start': { target: 'flushing', actions: 'countAttempt' } } },
        flushing: {
          description: 'Deltas are passing by.',
          on: {
            'stream.end': { target: 'buffering', actions: 'countOutput' },
            'stream.start': { target: 'flushing', reenter: true, actions: 'countAttempt' },
          },
        },
      },
    },
    draining: { description: 'What has been said is delivered to the end.', always: 'closed' },
    closed: { type: 'final' },
    aborted: { type: 'final' },
    failed: { type: 'final' },
  },
})
