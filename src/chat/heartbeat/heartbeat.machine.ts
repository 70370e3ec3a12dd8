import { assign, emit, fromPromise, sendTo, setup } from 'xstate'
import { notProvided } from '../../actors/not-provided.setup.ts'
import type { Delivery } from '../../contracts/channel.ts'
import { definedOf } from '../../contracts/defined.ts'
import { defaultTokens, type Payload, type Route } from '../../contracts/reply.ts'
import type { Counted } from '../delivery/delivery.context.ts'
import { deliveryMachine } from '../delivery/delivery.machine.ts'
import { alertRepeated, busyRetryMs, type SkipReason, wakeCoalesceMs } from './heartbeat.rules.ts'

export type HeartbeatInput = { agent: string; session: string; everyMs: number }
type HeartbeatEvent = { type: 'wake'; reason?: string | undefined } | { type: 'configure'; session: string; everyMs: number }
/** What there is to be said of one. */
type HeartbeatOutput =
  | { type: 'heartbeat'; status: 'skipped'; reason: SkipReason }
  | { type: 'heartbeat'; status: 'ok' | 'repeated' | 'told' | 'untold' | 'failed'; preview?: string }

/** @property at ms since the epoch @property route where an alert goes, if anywhere */
export type Look = { at: number; skip?: SkipReason; route?: Route; delivery?: Delivery; showAlerts: boolean; showOk: boolean }
export type Asked = { at: number; payloads: Payload[]; text: string }
export type AskInput = { agent: string; session: string; id: string }

type Context = HeartbeatInput & { turns: number; look: Look | null; asked: Asked | null; last: { text: string; at: number } | null }

const isWell = ({ asked }: Context): boolean => asked?.payloads.length === 0
/** That all is well is said in the word for it, which is no word to be taken off then. */
const saidBy = (context: Context): Payload[] =>
  isWell(context) ? [{ text: context.look?.delivery?.tokens?.heartbeat ?? defaultTokens.heartbeat }] : (context.asked?.payloads ?? [])
const tokensFor = (context: Context): NonNullable<Delivery['tokens']> => ({
  ...context.look?.delivery?.tokens,
  ...definedOf({ heartbeat: isWell(context) ? '' : undefined }),
})

const textOf = ({ payloads }: Asked): string => payloads.map(({ text = '' }) => text).join('\n\n')

/**
 * Asks an agent at intervals whether there is something to say. Requests that come together are one; a session that is at work is asked later; a text that was
 * told within the last 24 hours is not told again.
 */
export const heartbeatMachine = setup({
  types: {
    input: {} as HeartbeatInput,
    context: {} as Context,
    events: {} as HeartbeatEvent,
    emitted: {} as HeartbeatOutput,
  },
  actors: {
    look: fromPromise<Look, HeartbeatInput>(notProvided),
    ask: fromPromise<Asked, AskInput>(notProvided),
    delivery: deliveryMachine,
  },
  guards: {
    isBusy: (_, { look }: { look: Look }) => look.skip === 'requests-in-flight',
    isSkipped: (_, { look }: { look: Look }) => look.skip !== undefined,
    isRepeated: ({ context }, { asked }: { asked: Asked }) =>
      asked.payloads.length > 0 && alertRepeated(textOf(asked), context.last ?? undefined, asked.at),
    isToBeTold: ({ context }, { asked }: { asked: Asked }) =>
      asked.payloads.length > 0 && context.look?.route !== undefined && context.look.showAlerts,
    isWellToTell: ({ context }, { asked }: { asked: Asked }) =>
      asked.payloads.length === 0 && context.look?.route !== undefined && context.look.showOk,
    isWell: ({ context }) => isWell(context),
    isLost: (_, { told }: { told: Counted }) => told.lost > 0 || told.aborted,
  },
  delays: { every: ({ context }) => context.everyMs, blink: wakeCoalesceMs, retry: busyRetryMs },
  actions: {
    keepLook: assign({ look: (_, { look }: { look: Look }) => look, turns: ({ context }) => context.turns + 1 }),
    configure: assign(({ event }) => (event.type === 'configure' ? { session: event.session, everyMs: event.everyMs } : {})),
    keepAsked: assign({ asked: (_, { asked }: { asked: Asked }) => asked }),
    saySkipped: emit((_, { look }: { look: Look }): HeartbeatOutput => ({ type: 'heartbeat', status: 'skipped', reason: look.skip ?? 'disabled' })),
    say: emit(({ context }, { status }: { status: 'ok' | 'repeated' | 'told' | 'untold' | 'failed' }): HeartbeatOutput => {
      const preview = context.asked === null || status === 'failed' ? '' : textOf(context.asked).slice(0, 200)
      return { type: 'heartbeat', status, ...definedOf({ preview: preview || undefined }) }
    }),
    sayWell: emit((_, { asked }: { asked: Asked }): HeartbeatOutput => ({ type: 'heartbeat', status: asked.payloads.length > 0 ? 'untold' : 'ok' })),
    tell: sendTo('delivery', ({ context }) => ({ type: 'delivery.finish' as const, leading: [], payloads: saidBy(context), trailing: [] })),
    remember: assign({ last: ({ context: { asked, last } }) => (asked === null ? last : { text: textOf(asked), at: asked.at }) }),
  },
}).createMachine({
  id: 'heartbeat',
  description: 'Asks an agent now and then whether there is something to say.',
  context: ({ input }) => ({ ...input, turns: 0, look: null, asked: null, last: null }),
  on: { configure: { actions: 'configure' } },
  initial: 'resting',
  states: {
    resting: {
      description: 'Nobody asks.',
      after: { every: 'looking' },
      on: { wake: 'gathering', configure: { target: 'resting', reenter: true, actions: 'configure' } },
    },
    gathering: { description: 'Somebody wants it now, and others may at the same moment.', after: { blink: 'looking' } },
    looking: {
      description: 'Is this a time to ask?',
      invoke: {
        id: 'look',
        src: 'look',
        input: ({ context: { agent, session, everyMs } }) => ({ agent, session, everyMs }),
        onDone: [
          {
            guard: { type: 'isBusy', params: ({ event }) => ({ look: event.output }) },
            target: 'waiting',
            actions: { type: 'saySkipped', params: ({ event }) => ({ look: event.output }) },
          },
          {
            guard: { type: 'isSkipped', params: ({ event }) => ({ look: event.output }) },
            target: 'resting',
            actions: { type: 'saySkipped', params: ({ event }) => ({ look: event.output }) },
          },
          { target: 'asking', actions: { type: 'keepLook', params: ({ event }) => ({ look: event.output }) } },
        ],
        onError: { target: 'resting', actions: { type: 'say', params: { status: 'failed' } } },
      },
    },
    waiting: { description: 'The session is at work.', after: { retry: 'looking' } },
    asking: {
      description: 'The agent looks around.',
      invoke: {
        id: 'ask',
        src: 'ask',
        input: ({ context: { agent, session, turns } }) => ({ agent, session, id: `heartbeat-${agent}-${turns}` }),
        onDone: [
          {
            guard: { type: 'isRepeated', params: ({ event }) => ({ asked: event.output }) },
            target: 'resting',
            actions: [
              { type: 'keepAsked', params: ({ event }) => ({ asked: event.output }) },
              { type: 'say', params: { status: 'repeated' } },
            ],
          },
          {
            guard: { type: 'isToBeTold', params: ({ event }) => ({ asked: event.output }) },
            target: 'telling',
            actions: { type: 'keepAsked', params: ({ event }) => ({ asked: event.output }) },
          },
          {
            guard: { type: 'isWellToTell', params: ({ event }) => ({ asked: event.output }) },
            target: 'telling',
            actions: { type: 'keepAsked', params: ({ event }) => ({ asked: event.output }) },
          },
          { target: 'resting', actions: { type: 'sayWell', params: ({ event }) => ({ asked: event.output }) } },
        ],
        onError: { target: 'resting', actions: { type: 'say', params: { status: 'failed' } } },
      },
    },
    telling: {
      description: 'There is something to say.',
      entry: 'tell',
      invoke: {
        id: 'delivery',
        src: 'delivery',
        input: ({ context, context: { agent, session, turns, look } }) => ({
          session,
          runId: `heartbeat-${agent}-${turns}`,
          aside: 'heartbeat',
          ...definedOf({ route: look?.route }),
          delivery: { ...look?.delivery, tokens: tokensFor(context), typing: { mode: 'never' as const }, streaming: false },
        }),
        onDone: [
          { guard: 'isWell', target: 'resting', actions: { type: 'say', params: { status: 'ok' } } },
          {
            guard: { type: 'isLost', params: ({ event }) => ({ told: event.output }) },
            target: 'resting',
            actions: { type: 'say', params: { status: 'failed' } },
          },
          { target: 'resting', actions: ['remember', { type: 'say', params: { status: 'told' } }] },
        ],
      },
    },
  },
})
