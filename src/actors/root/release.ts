/** What a root writes down when it leaves memory in good order, so that whoever opens it next need not look for what may have got lost. */
import type { Logger } from '../../contracts/environment.ts'
import type { Committer } from './committer.ts'
import type { EffectRunner } from './effect-runner.ts'
import type { RootHandle } from './root-host.ts'
import type { State } from './state.ts'
import { isDeleted } from './view.ts'

type Parts = { root: RootHandle; state: State; effects: EffectRunner; committer: Committer; log: Logger }

/** @param here whether it has not been let go of meanwhile */
export const writeRelease = async ({ root, state, effects, committer, log }: Parts, here: () => boolean): Promise<void> => {
  // One to be removed goes on asking to be found, and needs no snapshot.
  if (!here() || effects.hasPending || isDeleted(root.registration, state.replica)) return
  const { quarantine } = state.ledger
  const running = (state.replica?.effects.size ?? 0) > 0
  // The head of a commit with actions asks to be woken, in case they got lost. They did not. And a root that was working says that its host was not killed.
  const note = running ? { released: true as const } : state.wakeAt === 0 && {}
  if (note && !quarantine) await committer.note(note).catch(() => undefined)
  if (here()) await state.save(log)
}
