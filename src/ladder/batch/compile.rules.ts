/** What the names in the charts of a batch mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, emit, enqueueActions, sendParent, sendTo, setup } from 'xstate'
import type { AskReport } from '../../index.ts'
import { toldInside } from '../awaited.ts'
import { endActions, type WhenEnded } from '../ending.ts'
import { errorBody, type LadderErrorBody, wordsOf } from '../errors.ts'
import { actorIn } from '../events.rules.ts'
import { type AnyRunEnd, hasParent, isWithin, type RunEnd, type RunInput, reportFor, rootOf, runActor, waitingSince } from '../run.rules.ts'
import { type BatchShape, chartOf, checkActor, itemChartOf, itemLogic, retryActor } from './batch.chart.rules.ts'
import {
  allItems,
  type BatchRun,
  begun,
  cancelled,
  cutOff,
  dataOf,
  due,
  type ItemEnd,
  type ItemInput,
  type ItemRun,
  indexOf,
  itemActor,
  itemBroken,
  itemEnded,
  itemInput,
  itemOf,
  itemRunId,
  itemsIn,
  mended,
  started,
} from './batch.context.ts'
import type { Again, Fit } from './batch.effects.ts'
import { reportOf } from './report.rules.ts'

type BatchParts = { run: AnyActorLogic; check: AnyActorLogic; retry: AnyActorLogic; now: () => number; ended: WhenEnded }
type Done = EventObject & { output?: unknown; error?: unknown }
type Word = { type: string } & Record<string, unknown>

const placeIn = (event: EventObject): number => indexOf(actorIn(event))
const endIn = (event: EventObject): RunEnd => (event as Done).output as RunEnd
const pauseIn = (event: EventObject): number | null => ((event as Done).output as Again).pauseMs

const unstorable = (what: string, thrown: unknown): LadderErrorBody =>
  errorBody('BATCH_FAILED', `${what} gave what cannot be stored: ${wordsOf(thrown)}`, { cause: thrown })

const cancelledError = (what: string, event: EventObject, context: object = {}): LadderErrorBody =>
  errorBody('BATCH_CANCELLED', `${what} was cancelled`, { context: { ...context, reason: (event as { reason?: string }).reason ?? null } })

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
      cancelRun: enqueueActions(({ event, enqueue }) => {
        enqueue.assign({ stopped: true as const })
        enqueue.sendTo('run', event)
      }),
      cutOff: assign(({ context: { index }, event }) => ({ end: { error: cancelledError(`the item ${index} of '${shape.name}'`, event) } })),
      break: assign(({ event }) => ({ end: { error: unstorable(`a run of '${shape.executable}'`, (event as Done).error) } })),
      pause: assign(({ event }) => ({ pauseMs: pauseIn(event) ?? 0 })),
      tellRetry: emit(({ context: { batchRunId: runId, inside, index, attempts, end } }) =>
        word(shape.name, 'item.retrying', { runId, rootRunId: inside.rootRunId }, { item: index, attempt: attempts, error: end?.error }),
      ),
      passReport: sendParent(({ event }) => event),
      decide: sendTo('run', ({ event }) => event),
      passDown: enqueueActions(({ event, enqueue }) => {
        for (const one of toldInside(event)) enqueue.sendTo('run', one)
      }),
    },
    guards: {
      'is unfit': ({ event }) => fitIn(event) !== null,
      'may be tried again': ({ context, event }) => endIn(event).error !== undefined && !context.stopped,
      'tries again': ({ event }) => pauseIn(event) !== null,
    },
    delays: { pause: ({ context }) => context.pauseMs },
  }).createMachine({
    ...itemChartOf(shape),
    context: ({ input }: { input: ItemInput }): ItemRun => ({ ...input, attempts: 0, pauseMs: 0 }),
    output: ({ context: { end, reports } }: { context: ItemRun }): ItemEnd => ({ ...end, reports }),
  } as never) as unknown as AnyStateMachine

export const batchMachine = (shape: BatchShape, parts: BatchParts): AnyStateMachine => {
  const { name, executable, concurrency } = shape
  const { now } = parts
  const told = (type: string, run: BatchRun, more: object = {}): Word => word(name, type, { runId: run.runId, rootRunId: rootOf(run) }, more)
  return setup({
    types: { context: {} as BatchRun, input: {} as RunInput, emitted: {} as Word },
    actors: { [itemLogic]: itemMachine(shape, parts) as never },
    actions: {
      begin: emit(({ context }) => told('starting', context, { items: context.count })),
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
        const { status, error } = itemOf(context.items, item) ?? {}
        return told(`item.${status}`, context, { item, ...(error && { error }) })
      }),
      /** Only those that run are alive. */
      dropItem: enqueueActions(({ event, enqueue }) => enqueue.stopChild(actorIn(event))),
      stopItems: enqueueActions(({ context, enqueue }) => {
        for (const index of context.running) enqueue.stopChild(itemActor(index))
      }),
      hear: assign(({ context, event }) => ({ waiting: waitingSince(context, event as unknown as AskReport) })),
      passReport: enqueueActions(({ context, event, enqueue }) => {
        if (hasParent(context)) enqueue.sendParent(event)
      }),
      /** It goes to the run that wants to make the call. */
      passDown: enqueueActions(({ context, event, enqueue }) => {
        for (const index of context.running) enqueue.sendTo(itemActor(index), event)
      }),
      decide: enqueueActions(({ context, event, enqueue }) => {
        const { ask } = event as unknown as { ask: string }
        for (const index of context.running) if (isWithin(ask, itemRunId(context, index))) enqueue.sendTo(itemActor(index), event)
      }),
      failUnfit: assign({
        error: errorBody('SCHEMA_VALIDATION_FAILED', `the input of '${name}' is no list of items`, { hint: 'give a list, or { items: […] }' }),
      }),
      fail: assign(({ context }) => {
        const items = allItems(context)
        const failed = items.flatMap(({ status }, index) => (status === 'completed' ? [] : [index]))
        return {
          error: errorBody(
            'BATCH_FAILED',
            `${failed.length} of ${items.length} items of '${name}' failed: ${items[failed[0] as number]?.error?.message}`,
            { hint: 'report.children says why each did; resume() runs those that failed once more', context: { failed } },
          ),
        }
      }),
      cancel: assign(({ context, event }) => {
        const cancelledAt = context.count - context.open
        return cancelled(context, cancelledError(`'${name}'`, event, { cancelledAt }), now())
      }),
      cancelItems: enqueueActions(({ context, event, enqueue }) => {
        for (const index of context.running) enqueue.sendTo(itemActor(index), event)
      }),
      cutOff: assign(({ context }) => cutOff(context, now())),
      mend: assign(({ context }) => mended(context)),
      end: assign({ endedAt: () => now() }),
      ...endActions(parts.ended, told),
    },
    guards: {
      'is inside': ({ context }) => context.inside !== undefined,
      'is no list': ({ context }) => itemsIn(context.input) === undefined,
      'runs items': ({ context }) => context.running.length > 0,
      'runs no items': ({ context }) => context.running.length === 0,
      'is over': ({ context }) => context.open === 0,
      'has failures': ({ context }) => context.open === 0 && context.failed > 0,
    },
  }).createMachine({
    ...chartOf(shape),
    context: ({ input }: { input: RunInput }) => begun(input, now()),
    output: ({ context }: { context: BatchRun }): AnyRunEnd => ({
      data: dataOf(context),
      ...(context.error && { error: context.error }),
      ...reportFor(context, () => reportOf(shape, context)),
      ...(context.artifacts && { artifacts: context.artifacts }),
    }),
  } as never) as unknown as AnyStateMachine
}
