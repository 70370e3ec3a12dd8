/** The names that the chart in ask.machine.ts uses: its guards, delays, actions and actors. */
import { assign, emit, enqueueActions, fromPromise, sendParent, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { AskEvent, AskInput, AskOutput, AskReport } from '../../contracts/ask.ts'
import { type ErrorBody, errorBody } from '../../contracts/errors.ts'
import type { Profile } from '../../contracts/profile.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { LoopOutput } from '../../contracts/turn.ts'
import { loopMachine } from '../loop/loop.machine.ts'
import type { LoopReport } from '../loop/loop.setup.ts'
import { isPaused, pausedMs, timerOf, workPauses } from '../loop/work-time.rules.ts'
import { deadlines, runTimeoutMs } from '../turn/turn.context.ts'
import { type AskContext, question } from './ask.context.ts'

/** How an agent runs as it is configured now. */
export const profileActor = fromPromise<Profile, Pick<AskInput, 'agent' | 'conversation'>>(notProvided)

/** The timer of the limit of work, which is set again when a person has decided. */
const wallTimer = timerOf('wallTime', 'ask.asking') as never as { type: 'cancel' }

const askParts = setup({
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
    wallTime: ({ context }) => {
      const { turnTimeMs, wallTimeMs } = context.profile as Profile
      return turnTimeMs ?? (wallTimeMs as number)
    },
    runTimeout: ({ context }) => context.profile?.runTimeoutMs ?? runTimeoutMs,
  },
  actions: {
    expire: enqueueActions(({ context, enqueue }, { why }: { why: keyof typeof deadlines }) => {
      if (isPaused(context)) enqueue.raise(wallTimer, { id: wallTimer.type, delay: pausedMs })
      else enqueue.sendTo('loop', { type: 'expire' as const, error: deadlines[why] })
    }),
  },
})

export const askSetup = askParts.extend({
  actions: {
    takeProfile: assign({ profile: (_, { profile }: { profile: Profile }) => profile }),
    say: emit(({ context }) => question(context)),
    takeAnswer: assign({ answer: (_, { answer }: { answer: LoopOutput }) => answer, waiting: [] }),
    rememberError: assign({ error: (_, { error }: { error: unknown }): ErrorBody => errorBody(error) }),
    tellLoop: sendTo('loop', ({ event }) => event as { type: 'cancel' }),
    keepWaiting: assign(({ context, event, self }) =>
      event.type === 'tool.waiting'
        ? { waiting: [...context.waiting, event.approval.callId], ...workPauses(context, context.profile as Profile, self, wallTimer) }
        : {},
    ),
    endWaiting: askParts.enqueueActions(({ context, event, enqueue }) => {
      if (event.type !== 'tool.decided') return
      const waiting = context.waiting.filter((id) => id !== event.callId)
      const { workLeftMs: delay } = context
      const goesOn = waiting.length === 0 && typeof delay === 'number'
      enqueue.assign({ waiting, ...(goesOn && { workLeftMs: null }) })
      if (!goesOn) return
      enqueue.cancel(wallTimer.type)
      enqueue.raise(wallTimer, { id: wallTimer.type, delay })
    }),
    report: sendParent(
      ({ context: { input }, event }) =>
        ({ type: 'ask.reported', conversation: input.conversation, report: event as AskReport['report'] }) satisfies AskReport,
    ),
  },
})
