/** `batch()`: the same executable over many items, some at once; each fails by itself. */
import type { AnyStateMachine } from 'xstate'
import { z } from 'zod'
import { type Agent, now } from '../../index.ts'
import type { Report } from '../envelope.ts'
import { LadderError } from '../errors.ts'
import { type AnyExecutable, type DataOf, Executable, type InputOf } from '../executable.ts'
import type { RunState } from '../run.rules.ts'
import type { Schema } from '../schema.ts'
import type { BatchShape } from './batch.chart.rules.ts'
import { type BatchRun, begun, dataOf, itemsIn } from './batch.context.ts'
import { checkLogic, retryLogic } from './batch.effects.ts'
import { batchMachine } from './compile.rules.ts'
import { type BatchOptions, checkedBatch } from './definition.ts'
import { reportOf } from './report.rules.ts'

/** `data` has what each item came to in the place of the item, and null where one came to nothing. */
export class Batch<Item = unknown, Data = unknown> extends Executable<readonly Item[], (Data | null)[]> {
  readonly type = 'batch'
  protected readonly driftCode = 'BATCH_DRIFT'
  readonly name: string
  readonly version: string | undefined
  readonly description: string | undefined
  readonly machine: AnyStateMachine
  readonly agents: readonly Agent[]
  override readonly inside: readonly AnyExecutable[]
  readonly #shape: BatchShape

  constructor(executable: AnyExecutable, options: BatchOptions) {
    super(options ?? {})
    const { name, version, description, concurrency, retry = {} } = checkedBatch(executable, options)
    this.name = name
    this.version = version
    this.description = description
    this.agents = executable.agents
    this.inside = [executable]
    this.#shape = {
      name,
      executable: executable.name,
      concurrency,
      isChecked: executable.schema !== undefined,
      isRetried: (retry.attempts ?? 1) > 1,
      ...(executable.awaits.length > 0 && { tells: true as const }),
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
    }
    this.machine = batchMachine(this.#shape, {
      run: executable.machine,
      check: checkLogic(executable),
      retry: retryLogic(retry),
      now,
      ended: (run) => this.ended(run),
    })
  }

  protected get takes(): Schema {
    return Items
  }

  override async fit(input: unknown): Promise<unknown> {
    const items = itemsIn(input)
    if (items) return items
    throw new LadderError('SCHEMA_VALIDATION_FAILED', `the input of '${this.name}' is no list of items`, { hint: 'give a list' })
  }

  protected begin(): object {
    return {}
  }

  protected override dataOf(run: RunState): unknown {
    return dataOf(run as BatchRun)
  }

  protected reportOf(run: RunState): Report {
    return reportOf(this.#shape, run as BatchRun)
  }

  protected refused(runId: string, error: LadderError): Report {
    return reportOf(this.#shape, { ...begun({ runId, input: [] }, now()), error: error.toJSON() })
  }
}

const Items = z.object({ items: z.array(z.unknown()).describe('what it is to run over, one by one') })

/** @throws LadderError BATCH_CONFIG naming what is wrong with it */
export const batch = <One extends AnyExecutable>(executable: One, options: BatchOptions = {}): Batch<InputOf<One>, DataOf<One>> =>
  new Batch(executable, options)
