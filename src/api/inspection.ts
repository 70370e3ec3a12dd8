/** Moments of actors, and what their commits did, for whoever cannot fold the journal himself: it takes the machine that wrote it. */

import { setImmediate as pause } from 'node:timers/promises'
import { type Chart, chartsBelow, checksum, Fold } from '../actors/index.ts'
import type { CommitSteps, Moment } from '../contracts/inspection.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import type { RuntimeParts } from '../runtime/index.ts'

/** Characters of one text that an answer has where nobody asks for more. */
const textMax = 4000
/** Journals that are kept folded. */
const foldMax = 8

type Kept = { birth: number; fold: Fold }
const folds = new WeakMap<Journal, Map<string, Kept>>()

type Place = { address: Address; seq: number; texts?: number | undefined }

/** @throws RuntimeError not_found, drift, corrupt_at */
export const readMoment = async (parts: RuntimeParts, place: Place): Promise<Moment> => (await foldOf(parts, place)).moment(place.seq)

/** @throws RuntimeError not_found, drift, corrupt_at */
export const readSteps = async (parts: RuntimeParts, place: Place): Promise<CommitSteps> => (await foldOf(parts, place)).steps(place.seq)

/** @throws RuntimeError not_found */
export const chartsOf = ({ runtime }: RuntimeParts, kind: string): { root: string; charts: Record<string, Chart> } => {
  const { machine, signature } = runtime.registration(kind)
  return { root: signature, charts: chartsBelow(machine) }
}

const foldOf = async ({ transport: { journal }, runtime }: RuntimeParts, { address, texts = textMax }: Place): Promise<Fold> => {
  const kept = folds.get(journal) ?? new Map<string, Kept>()
  folds.set(journal, kept)
  const name = `${formatAddress(address)} ${texts}`
  // What began anew under the same address is another journal.
  const [first] = await journal.read(address, 1, { limit: 1 })
  const birth = first ? checksum(first.bytes) : 0
  const known = kept.get(name)
  kept.delete(name)
  const fold =
    known?.birth === birth
      ? known.fold
      : new Fold({
          address: formatAddress(address),
          registration: runtime.registration(address.kind),
          frames: (from, limit) => journal.read(address, from, { limit }),
          textMax: texts,
          pause: () => pause(),
        })
  kept.set(name, { birth, fold })
  for (const oldest of kept.keys()) {
    if (kept.size <= foldMax) break
    kept.delete(oldest)
  }
  return fold
}
