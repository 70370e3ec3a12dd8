import { assign, setup } from 'xstate'
import { failed, nextReadyAt, succeeded } from '../../models/cooldown.rules.ts'
import type { ProviderContext, ProviderEvent } from './provider.context.ts'

const readyAt = ({ profiles, at }: ProviderContext): number => nextReadyAt(profiles, at) ?? at

/** The credentials of one provider, shared by all sessions: which of them rest after a failure, and until when. */
export const providerMachine = setup({
  types: {
    input: {} as { provider: string },
    context: {} as ProviderContext,
    events: {} as ProviderEvent,
  },
  guards: { someRest: ({ context }) => readyAt(context) > context.at },
  actions: {
    noteFailure: assign(({ context, event }) =>
      event.type === 'failed'
        ? { profiles: failed(context.profiles, event.profile, event.reason, event.at), at: Math.max(context.at, event.at) }
        : {},
    ),
    noteSuccess: assign(({ context, event }) =>
      event.type === 'succeeded' ? { profiles: succeeded(context.profiles, event.profile, event.at), at: Math.max(context.at, event.at) } : {},
    ),
    /** What was waited for is over; the machine has no clock to ask. */
    passTime: assign({ at: ({ context }) => readyAt(context) }),
  },
  delays: { rest: ({ context }) => readyAt(context) - context.at },
}).createMachine({
  id: 'provider',
  description: 'The credentials of one provider, shared by all sessions: which of them rest after a failure, and until when.',
  context: ({ input }) => ({ ...input, profiles: {}, at: 0 }),
  on: {
    failed: { target: '.ready', actions: 'noteFailure' },
    succeeded: { target: '.ready', actions: 'noteSuccess' },
  },
  initial: 'ready',
  states: {
    ready: {
      description: 'No credential rests.',
      always: { guard: 'someRest', target: 'cooling' },
    },
    cooling: {
      description: 'One credential or more rest; the first of them is back when the time is over.',
      after: { rest: { target: 'ready', actions: 'passTime' } },
    },
  },
})
