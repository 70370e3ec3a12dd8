/** Stands for a pipeline: it keeps what it is told, and ends when that was sent. */
import { assign, createMachine } from 'xstate'

export const pipe = createMachine({
  types: {} as { context: { told: { type: string }[] } },
  context: { told: [] },
  on: { '*': { actions: assign({ told: ({ context, event }) => [...context.told, event] }) } },
  initial: 'on',
  states: {
    on: { on: { flushed: 'off', lost: 'gone' } },
    off: { type: 'final', output: { failed: 0, lost: 0, aborted: false } },
    gone: { type: 'final', output: { failed: 1, lost: 1, aborted: false } },
  },
  output: ({ event }) => (event as unknown as { output: unknown }).output,
})
