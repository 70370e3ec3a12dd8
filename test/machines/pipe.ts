/** Stands for a publisher, or for what brings a saying to users: it keeps what it is told, and ends when that was sent. */
import { assign, createMachine } from 'xstate'

export const pipe = createMachine({
  types: {} as { context: { told: { type: string }[] } },
  context: { told: [] },
  on: { '*': { actions: assign({ told: ({ context, event }) => [...context.told, event] }) } },
  initial: 'on',
  states: {
    on: { on: { flushed: 'off', lost: 'gone' } },
    off: { type: 'final', output: { failed: 0, lost: 0, aborted: false, reply: { text: 'as it was sent' } } },
    gone: { type: 'final', output: { failed: 1, lost: 1, aborted: false, undelivered: 1 } },
  },
  output: ({ event }) => (event as unknown as { output: unknown }).output,
})
