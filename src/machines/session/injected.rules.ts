/**
 * Messages of the assistant that were put into the conversation without a run. What a turn has read must not change under it, and results of tools stand
 * behind their calls: one that comes meanwhile waits, and joins when the turn has ended.
 */
import { type BesideOutput, injectedRun } from '../../contracts/beside.ts'
import type { SessionOutput } from '../../contracts/session.ts'
import type { SessionContext } from './session.context.ts'

/** So many wait at most. */
const waitingMax = 100

/** The name by which notes find its text. Names of other texts begin with an escaped key, which has no space. */
export const injectedText = (key: string): { content: string } => ({ content: `inject ${key}` })

type Change = { change: Partial<SessionContext>; said: SessionOutput[] }

/** @param later its state does not allow any now, whatever its context says */
export const withInjected = (context: SessionContext, key: string, later: boolean): Change => {
  const waiting = context.injected ?? []
  const change = { injected: [...waiting, key] }
  if (waiting.length >= waitingMax)
    return {
      change: {},
      said: [
        {
          type: 'refused',
          code: 'overloaded',
          message: `${waitingMax} messages wait for the end of the turn`,
          hint: 'wait for the turn to end, and use another idempotency key',
        },
      ],
    }
  return later || !mayJoin(context) ? { change, said: [] } : joined({ ...context, ...change })
}

/** Nothing reads the conversation, and no result of a tool has to stand behind its call. */
export const mayJoin = ({ run, pending }: SessionContext): boolean => run === null && pending === undefined

/** All that wait. */
export const joined = ({ injected = [], transcriptLength }: SessionContext): Change => {
  return {
    change: { injected: undefined, transcriptLength: transcriptLength + injected.length },
    said: [
      { type: 'transcript', add: injected.map(injectedText) },
      ...injected.map((id): BesideOutput => ({ type: 'injected', runId: injectedRun(id) })),
    ],
  }
}

/** The conversation that they were for is forgotten; what comes after that belongs to the new one. */
export const isForgotten = ({ injected }: SessionContext, { type }: { type: string }): boolean =>
  injected !== undefined && (type === 'reset' || type === 'startOver' || type === 'stale')

type Enqueue = { assign(change: Partial<SessionContext>): void; emit(output: SessionOutput): void }
export const carryOut = (enqueue: Enqueue, { change, said }: Change): void => {
  if (Object.keys(change).length > 0) enqueue.assign(change)
  for (const one of said) enqueue.emit(one)
}
