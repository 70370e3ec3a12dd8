import { assign, sendParent, setup } from 'xstate'

/** Edges of the stream; the deltas themselves pass beside the machine. */
export type StreamEvent =
  | { type: 'stream.start'; attempt: number }
  | { type: 'stream.end'; attempt: number; deltas: number; chars: number }
  | { type: 'stream.close' }
  | { type: 'stream.abort' }
  | { type: 'stream.fail' }

export type StreamReport = { type: 'stream.closed'; attempts: number; chars: number }

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
    context: {} as { runId: string; attempts: number; deltas: number; chars: number },
    events: {} as StreamEvent,
  },
  actions: {
    countAttempt: assign({ attempts: ({ context }) => context.attempts + 1 }),
    countOutput: assign(({ context, event }) =>
      event.type === 'stream.end' ? { deltas: context.deltas + event.deltas, chars: context.chars + event.chars } : {},
    ),
    reportClosed: sendParent(({ context }): StreamReport => ({ type: 'stream.closed', attempts: context.attempts, chars: context.chars })),
  },
}).createMachine({
  id: 'stream',
  description: 'The output of one turn on its way to whoever listens.',
  context: ({ input }) => ({ ...input, attempts: 0, deltas: 0, chars: 0 }),
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
    closed: { type: 'final', entry: 'reportClosed' },
    aborted: { type: 'final', entry: 'reportClosed' },
    failed: { type: 'final', entry: 'reportClosed' },
  },
})
