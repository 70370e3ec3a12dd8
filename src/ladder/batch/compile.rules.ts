/** What the names in the charts of a batch mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, sendParent, sendTo, setup } from 'xstate'
import type { AskReport } from '../../index.ts'
import { endActions, type WhenEnded } from '../ending.ts'
import { type LadderErrorBody, wordsOf } from '../errors.ts'
import { hasParent, isWithin, type RunEnd, type RunInput, rootOf, runActor, waitingSince } from '../run.rules.ts'
import { type BatchShape, chartOf, checkActor, itemChartOf, itemLogic, retryActor } from './batch.chart.rules.ts'
import {
  type BatchRun,
  begun,
  cutOff,
  dataOf,
  due,
  type ItemEnd,
  type ItemInput,
  type ItemRun,
  indexOf,
  isOpen,
  itemActor,
  itemBroken,
  itemEnded,
  itemInput,
  itemRunId,
  itemsIn,
  mended,
  running,
  started,
} from './batch.context.ts'
import type { Again, Fit } from './batch.effects.ts'
import { reportOf } from './report.rules.ts'

type BatchParts = { run: AnyActorLogic; check: AnyActorLogic; retry: AnyActorLogic; now: () => number; ended: WhenEnded }
type Done = EventObject & { output?: unknown; error?: unknown }
type Word = { type: string } & Record<string, unknown>

const placeIn = (event: EventObject): number => indexOf((event as unknown as { actorId: string }).actorId)
const endIn = (event: EventObject): RunEnd => (event as Done).output as RunEnd
const pauseIn = (event: EventObject): number | null => ((event as Done).output as Again).pauseMs

const unstorable = (what: string, thrown: unknown): LadderErrorBody => ({
  code: 'BATCH_FAILED',
  category: 'execution',
  message: `${what} gave what cannot be stored: ${wordsOf(thrown)}`,
  context: {},
})

const word = (batch: string, type: string, { runId, rootRunId }: { runId: string; rootRunId: string }, more: object = {}): Word => ({
  type: `batch.${type}`,
  runId,
  rootRunId,
  batch,
  ...more,
})

const fitIn = (event: EventObject) => ((event as Done).output as Fit).error

const itemMachine = (shape: BatchShape, { run, check, retry }: BatchParts): AnyStateMachine =>
  setup({
    types: { context: {} as ItemRun, input: {} as ItemInput, emitted: {} as Word, output: {} as ItemEnd },
    actors: { [runActor(shape.executable)]: run, [checkActor]: check, [retryActor]: retry } as unknown as Record<string, never>,
    actions: {
      attempt: assign(({ context }) => ({ attempts: context.attempts + 1, end: undefined })),
      refuse: assign(({ event }) => ({ end: { error: fitIn(event) as LadderErrorBody } })),
      takeEnd: assign(({ context, event }) => {
        const { report, ...end } = endIn(event)
        return { end, reports: [...context.reports, report] }
      }),
      break: assign(({ event }) => ({ end: { error: unstorable(`a run of '${shape.executable}'`, (event as Done).error) } })),
      pause: assign(({ event }) => ({ pauseMs: pauseIn(event) ?? 0 })),
      tellRetry: emit(
        ({
          context: {
            batchRunId: runId,
            inside: { rootRunId },
            index,
            attempts,
            end,
          },
        }) => word(shape.name, 'item.retrying', { runId, rootRunId }, { item: index, attempt: attempts, error: end?.error }),
      ),
      passReport: sendParent(({ event }) => event),
      tellRun: sendTo('run', ({ event }) => event),
      stop: assign({ isCutOff: true }),
    },
    guards: {
      'is unfit': ({ event }) => fitIn(event) !== null,
      'has failed by itself': ({ context, event }) => endIn(event).error !== undefined && !context.isCutOff,
      'tries again': ({ event }) => pauseIn(event) !== null,
    },
    delays: { pause: ({ context }) => context.pauseMs },
  }).createMachine({
    ...itemChartOf(shape),
    context: ({ input }: { input: ItemInput }): ItemRun => ({ ...input, attempts: 0, pauseMs: 0 }),
    output: ({ context: { end, reports, isCutOff } }: { context: ItemRun }): ItemEnd => ({
      ...end,
      reports,
      // What came to its end all the same counts.
      ...(isCutOff && !(end && end.error === undefined) && { isCutOff }),
    }),
  } as never) as unknown as AnyStateMachine

export const batchMachine = (shape: BatchShape, parts: BatchParts): AnyStateMachine => {
  const { name, executable, concurrency } = shape
  const { now } = parts
  const told = (type: string, run: BatchRun, more: object = {}): Word => word(name, type, { runId: run.runId, rootRunId: rootOf(run) }, more)
  return setup({
    types: { context: {} as BatchRun, input: {} as RunInput, emitted: {} as Word, output: {} as RunEnd },
    actors: { [itemLogic]: itemMachine(shape, parts) as never },
    actions: {
      begin: emit(({ context }) => told('starting', context, { items: context.items.length })),
      /** As many run as may. */
      fill: enqueueActions(({ context, enqueue }) => {
        const indexes = due(context, concurrency)
        if (indexes.length === 0) return
        enqueue.assign(started(context, indexes, now()))
        for (const index of indexes) {
          enqueue.emit(told('item.starting', context, { item: index }))
          enqueue.spawnChild(itemLogic as never, { id: itemActor(index) as never, input: itemInput(context, index) as never })
        }
      }),
      takeItem: assign(({ context, event }) => itemEnded(context, placeIn(event), (event as Done).output as ItemEnd, now())),
      breakItem: assign(({ context, event }) =>
        itemBroken(context, placeIn(event), unstorable(`a run of '${executable}'`, (event as Done).error), now()),
      ),
      tellItem: emit(({ context, event }) => {
        const item = placeIn(event)
        const { status, error } = context.items[item] ?? {}
        return told(`item.${status}`, context, { item, ...(error && { error }) })
      }),
      /** Only those that run are alive. */
      dropItem: enqueueActions(({ event, enqueue }) => enqueue.stopChild((event as unknown as { actorId: string }).actorId)),
      cancelItems: enqueueActions(({ context, event, enqueue }) => {
        for (const index of running(context)) enqueue.sendTo(itemActor(index), event)
      }),
      stopItems: enqueueActions(({ context, enqueue }) => {
        for (const index of running(context)) enqueue.stopChild(itemActor(index))
      }),
      hear: assign(({ context, event }) => ({ waiting: waitingSince(context, event as unknown as AskReport) })),
      passReport: enqueueActions(({ context, event, enqueue }) => {
        if (hasParent(context)) enqueue.sendParent(event)
      }),
      /** It goes to the run that wants to make the call. */
      decide: enqueueActions(({ context, event, enqueue }) => {
        const { ask } = event as unknown as { ask: string }
        for (const index of running(context)) if (isWithin(ask, itemRunId(context, index))) enqueue.sendTo(itemActor(index), event)
      }),
      failUnfit: assign({
        error: {
          code: 'SCHEMA_VALIDATION_FAILED',
          category: 'validation',
          message: `the input of '${name}' is no list of items`,
          hint: 'give a list, or { items: […] }',
          context: {},
        } satisfies LadderErrorBody,
      }),
      fail: assign(({ context: { items } }) => {
        const failed = items.flatMap(({ status }, index) => (status === 'completed' ? [] : [index]))
        return {
          error: {
            code: 'BATCH_FAILED',
            category: 'execution',
            message: `${failed.length} of ${items.length} items of '${name}' failed: ${items[failed[0] as number]?.error?.message}`,
            hint: 'report.children says why each did; resume() runs those that failed once more',
            context: { failed },
          } satisfies LadderErrorBody,
        }
      }),
      cancel: assign(({ context, event }) => ({
        waiting: [],
        error: {
          code: 'BATCH_CANCELLED' as const,
          category: 'cancelled' as const,
          message: `'${name}' was cancelled`,
          context: {
            cancelledAt: context.items.filter((item) => !isOpen(item)).length,
            reason: (event as { reason?: string }).reason ?? null,
          },
        },
      })),
      cutOff: assign(({ context }) => cutOff(context, now())),
      mend: assign(({ context }) => mended(context)),
      end: assign({ endedAt: () => now() }),
      ...endActions(parts.ended, told),
    },
    guards: {
      'is inside': ({ context }) => context.inside !== undefined,
      'is no list': ({ context }) => itemsIn(context.input) === undefined,
      'runs items': ({ context }) => running(context).length > 0,
      'runs no items': ({ context }) => running(context).length === 0,
      'is over': ({ context }) => !context.items.some(isOpen),
      'has failures': ({ context }) => !context.items.some(isOpen) && context.items.some(({ status }) => status !== 'completed'),
    },
  }).createMachine({
    ...chartOf(shape),
    context: ({ input }: { input: RunInput }) => begun(input, now()),
    output: ({ context }: { context: BatchRun }): RunEnd => ({
      data: dataOf(context),
      ...(context.error && { error: context.error }),
      report: reportOf(shape, context),
    }),
  } as never) as unknown as AnyStateMachine
}
