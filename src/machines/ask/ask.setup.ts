/** The names that the chart in ask.machine.ts uses: its guards, delays, actions and actors. */
import { assign, emit, fromPromise, sendParent, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { AskEvent, AskInput, AskOutput, AskReport } from '../../contracts/ask.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { LoopOutput } from '../../contracts/turn.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import type { LoopReport } from '../loop/loop.setup.ts'
import { deadlines, runTimeoutMs } from '../turn/turn.context.ts'
import { type AskContext, question } from './ask.context.ts'

/** How an agent runs as it is configured now. */
export const profileActor = fromPromise<Profile, Pick<AskInput, 'agent' | 'conversation'>>(notProvided)

export const askSetup = setup({
  types: {
    input: {} as AskInput,
    output: {} as AskOutput,
    context: {} as AskContext,
    events: {} as AskEvent | LoopReport,
    emitted: {} as SessionOutput,
    tags: {} as 'waiting',
  },
  actors: { loop: loopMachine, profile: profileActor },
  guards: {
    hasFailed: (_, { answer }: { answer: LoopOutput }) => answer.status === 'failed',
    wasCancelled: (_, { answer }: { answer: LoopOutput }) => answer.status === 'cancelled',
    isWatched: ({ context }) => context.input.reports === true,
    nobodyWaits: ({ context }) => context.waiting.length === 0,
  },
  delays: {
    wallTime: ({ context }) => (context.profile as Profile).wallTimeMs,
    runTimeout: ({ context }) => context.profile?.runTimeoutMs ?? runTimeoutMs,
  },
  actions: {
    takeProfile: assign({ profile: (_, { profile }: { profile: Profile }) => profile }),
    say: emit(({ context }) => question(context)),
    takeAnswer: assign({ answer: (_, { answer }: { answer: LoopOutput }) => answer, waiting: [] }),
    rememberError: assign({ error: (_, { error }: { error: unknown }): ErrorBody => errorBody(error) }),
    tellLoop: sendTo('loop', ({ event }) => event as { type: 'cancel' }),
    expire: sendTo('loop', (_, { why }: { why: keyof typeof deadlines }) => ({ type: 'expire' as const, error: deadlines[why] })),
    keepWaiting: assign(({ context, event }) => (event.type === 'tool.waiting' ? { waiting: [...context.waiting, event.approval.callId] } : {})),
    endWaiting: assign(({ context, event }) =>
      event.type === 'tool.decided' ? { waiting: context.waiting.filter((id) => id !== event.callId) } : {},
    ),
    report: sendParent(
      ({ context: { input }, event }) =>
        ({ type: 'ask.reported', conversation: input.conversation, report: event as AskReport['report'] }) satisfies AskReport,
    ),
  },
})
