/** What the stories of a session's chart are told with: its turn and its effects end when the story says so. */
import { createMachine, sendParent } from 'xstate'
import { noUsage } from '../../../src/contracts/message.ts'
import { defaultProfile, type Profile } from '../../../src/contracts/profile.ts'
import type { QueueMode } from '../../../src/contracts/settings.ts'
import type { TurnOutput } from '../../../src/contracts/turn.ts'
import type { Walk } from '../walk.ts'

/** Stands for a turn: it ends when it is told how, and passes on what it is told to say. */
export const stub = createMachine({
  initial: 'on',
  output: ({ event }) => (event as unknown as { output: { output: unknown } }).output.output,
  states: {
    on: { on: { end: 'off', say: { actions: sendParent(({ event }) => (event as unknown as { event: { type: string } }).event) } } },
    off: { type: 'final', output: ({ event }) => event },
  },
})
export const profile = (queueMode: QueueMode = 'steer'): Profile => ({ ...defaultProfile, agent: 'main', model: 'test/model', queueMode })
export const message = (id: string, queueMode?: QueueMode) => ({ type: 'message', id, text: id, at: 0, profile: profile(queueMode) })
export const ended = (ids: string[], output: Partial<TurnOutput> = {}) => ({
  type: 'end',
  output: {
    runId: ids[0],
    status: 'completed',
    outcome: 'replied',
    ids,
    text: 'hi',
    partial: false,
    answerId: `${ids[0]}:1`,
    usage: noUsage,
    steps: 1,
    toolCalls: 0,
    model: 'test/model',
    transcriptLength: 2,
    ...output,
  },
})
export const overflow = { status: 'failed', outcome: 'reset', error: { code: 'provider_overflow', message: 'too long', retryable: false } } as const
export const refused = (walk: Walk) => walk.heard().flatMap((event) => (event.type === 'refused' ? [event.code] : []))
export const replies = (walk: Walk) => walk.heard().flatMap((event) => (event.type === 'final' ? [[(event.ids as string[])[0], event.text]] : []))
