/** What an author writes of a batch: what runs over items, how many at once, and whether one that fails is tried again. */

import type { Heard } from '../audience.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, Executable } from '../executable.ts'
import { isKindName } from '../names.rules.ts'
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

type CheckedBatch = Pick<BatchOptions, 'version' | 'description' | 'retry'> & { name: string; concurrency: number; executable: AnyExecutable }

/** @throws LadderError BATCH_CONFIG naming what is wrong with it */
export const checkedBatch = (executable: AnyExecutable, options: BatchOptions): CheckedBatch => {
  if (!(executable instanceof Executable))
    throw wrong('a batch has nothing to run over its items', 'give what agent() or workflow() of statecast/ladder returned')
  const { name = `${executable.name}-batch`, concurrency = 5, retry } = options
  if (!isKindName(name)) throw wrong(`'${String(name).slice(0, 40)}' is no name of a batch`, 'use lower-case letters, digits and hyphens, at most 32')
  if (name === executable.name) throw wrong(`the batch '${name}' is named as what it runs`, 'give it another name')
  if (!isCount(concurrency)) throw wrong(`concurrency of '${name}' is ${String(concurrency)}`, 'it is a whole number from 1 on')
  if (retry !== undefined && (typeof retry !== 'object' || retry === null || (retry.attempts !== undefined && !isCount(retry.attempts))))
    throw wrong(`retry of '${name}' cannot be followed`, 'write retry: { attempts: 3 }')
  return { ...options, name, concurrency, executable }
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1

const wrong = (message: string, hint: string): LadderError => new LadderError('BATCH_CONFIG', message, { hint })
