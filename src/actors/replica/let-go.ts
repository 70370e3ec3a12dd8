/** Forgets actors of a tree that have ended, with all that was to happen on their behalf. */
import type { AnyActorRef } from 'xstate'
import type { ActorPath } from '../../contracts/journal.ts'
import type { HeldOutputs } from './held-outputs.ts'
import type { Paths } from './paths.ts'
import type { Timers } from './timers.ts'
import { unschedule } from './xstate-hooks.ts'

type Tree = { system: AnyActorRef['system']; paths: Paths; held: HeldOutputs; timers: Timers }

/** Takes them out, and what still stands below them; timers to or from any of these are taken back. */
export const letGo = ({ system, paths, held, timers }: Tree, ended: readonly AnyActorRef[]): void => {
  const gone = new Map<ActorPath, AnyActorRef>()
  for (const ref of ended) {
    const path = paths.of(ref)
    for (const [below, child] of paths.drop(path)) {
      gone.set(below, child)
      held.end(below, below !== path)
    }
  }
  if (gone.size === 0) return
  for (const { n, from, to, id } of timers.pending()) {
    if (!gone.has(from) && !gone.has(to)) continue
    const source = paths.get(from) ?? gone.get(from)
    if (source) unschedule(system, source, id)
    timers.clock.clearTimeout(n)
  }
}
