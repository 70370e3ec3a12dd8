/** A run as its callers go with it: begun or gone on with, heard, cancelled by a signal, and waited for. */
import { type Actor, type ActorSnapshot, isRuntimeError, type Receipt } from '../index.ts'
import type { LadderEvent, Report } from './envelope.ts'
import { wordsOf } from './errors.ts'
import { heardOf } from './heard.ts'
import type { AnyRunEnd, RunState } from './run.rules.ts'

/** What a run is told at first: `execute` begins it. */
export type Begin = { type: string }
/** @property signal cancels the run @property leave nobody waits for it any more: the run goes on @property check throws where it is not the run that is meant */
type Following = {
  begin: Begin
  rootRunId: string
  signal: AbortSignal | undefined
  leave: AbortSignal
  hear: (told: LadderEvent) => void
  check: (state: RunState) => void
}

/** What a run is, and the report that it has made of that where it has ended for good. */
export type Settled = { state: RunState; report: Report | undefined }

/** It has ended, or waits to be gone on with. */
export const isSettled = (at: ActorSnapshot): boolean => at.status !== 'active' || at.hasTag('settled')

/** What the run is when it has settled, after all that it has told. @throws RuntimeError drift, not_found, quarantined … */
export const followRun = async (actor: Actor, { begin, rootRunId, signal, leave, hear, check }: Following): Promise<Settled> => {
  const over = new AbortController()
  const words = actor.events({ signal: over.signal })
  const heard = (async () => {
    for await (const { event: told } of words) {
      const event = heardOf(told, rootRunId)
      if (event) hear(event)
    }
  })()
  try {
    if (begin.type !== 'execute') await actor.snapshot()
    const receipt: Receipt | undefined = await actor.send(begin, begin.type === 'execute' ? { id: 'execute' } : {}).catch(unlessEnded)
    // One that has just been begun is the one that is meant; nothing comes between its beginning and a cancel. An actor does not know all ids for ever.
    const isBegun = receipt?.duplicate === false && receipt.seq === 1
    if (begin.type === 'execute' && !isBegun) check((await actor.snapshot()).context as RunState)
    const cancel = (): void => void actor.send({ type: 'cancel', reason: wordsOf(signal?.reason ?? 'aborted') }).catch(() => undefined)
    if (signal?.aborted) cancel()
    signal?.addEventListener('abort', cancel, { signal: leave })
    const snapshot = await actor.waitForTag('settled')
    over.abort()
    await heard
    // It may have been created by somebody who died before it was begun.
    check(snapshot.context as RunState)
    return { state: snapshot.context as RunState, report: (snapshot.output as AnyRunEnd | undefined)?.report }
  } finally {
    over.abort()
  }
}

export const unlessUnknown = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'not_found') throw error
}

/** A run that has completed takes no events any more, and still has its result. */
export const unlessEnded = (error: unknown): undefined => {
  if (!isRuntimeError(error) || error.code !== 'closed') throw error
}
