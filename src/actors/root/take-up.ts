/** A root goes on where the one before it has stopped: after a crash, on another node, or when it is taken into service again. */
import type { Commit } from '../../contracts/journal.ts'
import type { Doubtful } from '../journal/recovery.ts'
import type { Replica } from '../replica/replica.ts'
import { emittedBy } from '../replica/sink.ts'
import type { Committer } from './committer.ts'
import type { EffectRunner } from './effect-runner.ts'
import type { RootHandle, RootHost } from './root-host.ts'
import type { State } from './state.ts'
import { exhaustion } from './supervision.ts'

export type TakeUpParts = { root: RootHandle; host: RootHost; state: State; effects: EffectRunner; committer: Committer }
type Past = { replica: Replica; doubtful: readonly Doubtful[] }

/** Takes up what a life before left undone. Nothing may be done again before the claim says who does it. */
export const redo = async (parts: TakeUpParts, { replica, doubtful }: Past, extra: Partial<Commit>): Promise<void> => {
  const { root, host, state, effects, committer } = parts
  for (const { commit, outputs } of doubtful) effects.addPending(outputs, commit.seq)
  const quarantine = extra.revived ? undefined : exhaustion(state.ledger, replica.effects.keys(), host.limits.takeoverMax)
  await committer.note(quarantine ? { quarantine } : extra)
  if (quarantine) return effects.discardPending()
  for (const { commit, outputs } of doubtful) {
    host.committed(root, commit, emittedBy(outputs), true)
    effects.run(outputs, replica, state.ledger.epoch)
  }
}

/** Starts whatever the tree says is active. */
export const goOn = ({ state, effects }: TakeUpParts, replica: Replica, restMs = 0): void => {
  effects.launchAll(replica, state.ledger.epoch, restMs)
  effects.arm(replica, state.ledger.at)
}
