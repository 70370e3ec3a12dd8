/** The states and arrows of a batch, and of one item of it. Plain data. */
import { tellEvent } from '../awaited.ts'
import { runActor, runsEndMs } from '../run.rules.ts'
import type { ItemRun } from './batch.context.ts'

export type BatchShape = {
  name: string
  version?: string
  description?: string
  executable: string
  concurrency: number
  /** What it is given has to fit a schema. */
  isChecked: boolean
  /** An item that fails may be tried again. */
  isRetried: boolean
  /** A run inside of it may wait for events. */
  tells?: true
}

/** One item; code that looks at what it is given; and code that says whether it is tried again. */
export const itemLogic = 'item'
export const checkActor = 'check()'
export const retryActor = 'retry()'

export const chartOf = ({ name, version, description, executable, concurrency, tells }: BatchShape) => ({
  id: name,
  ...(version !== undefined && { version }),
  description: description ?? `Runs ${executable} over a list, ${concurrency} at once.`,
  initial: 'ready',
  states: {
    ready: {
      always: { guard: 'is inside', target: 'working', actions: ['begin'] },
      on: { execute: { target: 'working', actions: ['begin'] } },
    },
    working: {
      entry: ['fill'],
      always: [
        { guard: 'is no list', target: 'failed', actions: ['failUnfit'] },
        { guard: 'has failures', target: 'failed', actions: ['fail'] },
        { guard: 'is over', target: 'completed' },
      ],
      on: {
        'xstate.done.actor.*': { actions: ['takeItem', 'tellItem', 'dropItem', 'fill'] },
        'xstate.error.actor.*': { actions: ['breakItem', 'tellItem', 'dropItem', 'fill'] },
        'ask.reported': { actions: ['hear', 'passReport'] },
        approve: { actions: ['decide'] },
        ...(tells && { [tellEvent]: { actions: ['passDown'] } }),
        cancel: [
          { guard: 'runs items', target: 'cancelling', actions: ['cancel', 'cancelItems'] },
          { target: 'cancelled', actions: ['cancel'] },
        ],
      },
    },
    cancelling: {
      description: 'Items that run say what they have used.',
      on: {
        'xstate.done.actor.*': { actions: ['takeItem', 'tellItem', 'dropItem'] },
        'xstate.error.actor.*': { actions: ['breakItem', 'tellItem', 'dropItem'] },
      },
      always: { guard: 'runs no items', target: 'cancelled' },
      after: { [runsEndMs]: { target: 'cancelled', actions: ['stopItems', 'cutOff'] } },
    },
    completed: { type: 'final', tags: ['settled'], entry: ['end', 'tellCompleted'] },
    failed: {
      tags: ['settled'],
      entry: ['end', 'tellFailed'],
      always: { guard: 'is inside', target: 'returned' },
      on: { resume: { target: 'working', actions: ['mend'] } },
    },
    cancelled: {
      tags: ['settled'],
      entry: ['end', 'tellCancelled'],
      always: { guard: 'is inside', target: 'returned' },
      on: { resume: { target: 'working', actions: ['mend'] } },
    },
    returned: { type: 'final' },
  },
})

const cutOff = { cancel: { target: 'ended', actions: ['cutOff'] } }

export const itemChartOf = ({ name, executable, isChecked, isRetried, tells }: BatchShape) => ({
  id: `${name}-item`,
  initial: isChecked ? 'checking' : 'running',
  states: {
    ...(isChecked && {
      checking: {
        on: cutOff,
        invoke: {
          id: checkActor,
          src: checkActor,
          input: ({ context: { input } }: { context: ItemRun }) => input,
          onDone: [{ guard: 'is unfit', target: 'ended', actions: ['refuse'] }, { target: 'running' }],
          onError: { target: 'ended', actions: ['break'] },
        },
      },
    }),
    running: {
      entry: ['attempt'],
      invoke: {
        id: 'run',
        src: runActor(executable),
        input: ({ context: { runId, input, reports, inside } }: { context: ItemRun }) => ({ runId: `${runId}/${reports.length + 1}`, input, inside }),
        onDone: [
          ...(isRetried ? [{ guard: 'may be tried again', target: 'deciding', actions: ['takeEnd'] }] : []),
          { target: 'ended', actions: ['takeEnd'] },
        ],
        onError: { target: 'ended', actions: ['break'] },
      },
      on: {
        'ask.reported': { actions: ['passReport'] },
        approve: { actions: ['decide'] },
        cancel: { actions: ['cancelRun'] },
        ...(tells && { [tellEvent]: { actions: ['passDown'] } }),
      },
    },
    ...(isRetried && {
      deciding: {
        on: cutOff,
        invoke: {
          id: retryActor,
          src: retryActor,
          input: ({ context: { attempts, end } }: { context: ItemRun }) => ({ attempt: attempts, error: end?.error }),
          onDone: [{ guard: 'tries again', target: 'pausing', actions: ['pause', 'tellRetry'] }, { target: 'ended' }],
          onError: { target: 'ended', actions: ['break'] },
        },
      },
      pausing: { on: cutOff, after: { pause: 'running' } },
    }),
    ended: { type: 'final' },
  },
})
