/** What an author writes of a batch: what runs over items, how many at once, and whether one that fails is tried again. */

import { commonKinds, type Heard } from '../audience.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { anything, count, type KindsOf, optionsIn } from '../given.ts'
import { isKindName } from '../names.rules.ts'
import { checkedRetry } from '../workflow/check.ts'
import type { Retry } from '../workflow/definition.ts'

export type BatchOptions = Heard & {
  /** Also the kind of its runs: lower-case letters, digits and hyphens. Default: the name of what runs, with `-batch`. */
  name?: string
  /** Another one refuses the runs that are under way. */
  version?: string
  description?: string
  /** Items that run at once. Default: 5. */
  concurrency?: number
  /** For each item by itself. Default: it is tried once. */
  retry?: Retry
}

const kinds: KindsOf<BatchOptions> = { ...commonKinds, concurrency: count(1), retry: anything }

type CheckedBatch = Pick<BatchOptions, 'version' | 'description' | 'retry'> & { name: string; concurrency: number; executable: AnyExecutable }

/** @throws LadderError BATCH_CONFIG naming what is wrong with it */
export const checkedBatch = (executable: AnyExecutable, given: BatchOptions): CheckedBatch => {
  if (!(executable instanceof Executable))
    throw wrong('a batch has nothing to run over its items', 'give what agent() or workflow() of statecast/ladder returned')
  const options = optionsIn<BatchOptions>(given, kinds, { who: `the batch of '${executable.name}'`, code: 'BATCH_CONFIG' })
  const { name = `${executable.name}-batch`, concurrency = 5, retry } = options
  if (!isKindName(name)) throw wrong(`'${String(name).slice(0, 40)}' is no name of a batch`, 'use lower-case letters, digits and hyphens, at most 32')
  if (name === executable.name) throw wrong(`the batch '${name}' is named as what it runs`, 'give it another name')
  checkedRetry(retry, name, 'BATCH_CONFIG')
  return { ...options, name, concurrency, executable }
}

const wrong = (message: string, hint: string): LadderError => new LadderError('BATCH_CONFIG', message, { hint })
