/** The end of runs that code has called and that nobody wants any more: also where their caller was killed before it could tell them. */
import type { AnyActorLogic, AnyActorRef } from 'xstate'
import { type Address, directoryOf, effect, fromTask, isRuntimeError } from '../../index.ts'
import type { RunApart, RunEnd } from '../run.rules.ts'
import type { Called } from './work.context.ts'

/** @property reason why, as the run is told */
export type CallEndInput = RunApart & { reason: string }

/** ms; a word that was lost on the way costs that much. */
const lookMs = 2_000

/** What it comes to; null where it never began, or is another one's. */
export const endCall: AnyActorLogic = fromTask<RunEnd | null, CallEndInput>(({ input, ...scope }) => endOf(input, scope)) as AnyActorLogic

/** The same for several. */
export const endCalls: AnyActorLogic = fromTask<Called, { calls: readonly RunApart[]; reason: string }>(
  async ({ input: { calls, reason }, ...scope }) => {
    const ends = await Promise.all(calls.map((call) => endOf({ ...call, reason }, scope)))
    return { called: ends.flatMap((end) => (end ? [end.report] : [])) }
  },
) as AnyActorLogic

type Scope = { self: AnyActorRef; signal: AbortSignal }

const endOf = async ({ ask, apart, reason }: CallEndInput, { self, signal }: Scope): Promise<RunEnd | null> => {
  const { key, waits } = effect(self)
  // A fork remembers what its origin has called: that stays its affair.
  if (above(key) !== above(apart.key)) return null
  const actors = directoryOf(self)
  const address: Address = { kind: apart.kind, id: ask }
  waits(true)
  if ((await actors.read(address)).snapshot === undefined) return null
  await actors.send(address, { type: 'cancel', reason }, { id: `${key} cancel` }).catch(unlessEnded)
  for (;;) {
    // Before we look, so that nothing falls in between.
    const next = actors.nextCommit(address, lookMs)
    next.catch(() => undefined)
    const { snapshot } = await actors.read(address)
    if (snapshot?.status !== 'active') return (snapshot?.output as RunEnd | undefined) ?? null
    signal.throwIfAborted()
    await next
  }
}

const above = (key: string): string => key.slice(0, key.lastIndexOf('/'))

const unlessEnded = (error: unknown): void => {
  if (!isRuntimeError(error) || error.code !== 'closed') throw error
}
