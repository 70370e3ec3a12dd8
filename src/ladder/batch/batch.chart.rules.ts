/** The states and arrows of a batch, and of one item of it. Plain data. */
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
}

/** One item; code that looks at what it is given; and code that says whether it is tried again. */
export const itemLogic = 'item'
export const checkActor = 'check()'
export const retryActor = 'retry()'

export const chartOf = ({ name, version, description, executable, concurrency }: BatchShape) => ({
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
      after: { [runsEndMs]: { target: 'cancelled', actions: ['stopItems'] } },
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
      entry: ['cutOff', 'tellCancelled'],
      always: { guard: 'is inside', target: 'returned' },
      on: { resume: { target: 'working', actions: ['mend'] } },
    },
    returned: { type: 'final' },
  },
})

/** Nothing of it runs. */
const cutOff = { cancel: { target: 'ended', actions: ['stop'] } }

export const itemChartOf = ({ name, executable, isChecked, isRetried }: BatchShape) => ({
  id: `${name}-item`,
  initial: isChecked ? 'checking' : 'running',
  states: {
    ...(isChecked && {
      checking: {
        invoke: {
          id: checkActor,
          src: checkActor,
          input: ({ context: { input } }: { context: ItemRun }) => input,
          onDone: [{ guard: 'is unfit', target: 'ended', actions: ['refuse'] }, { target: 'running' }],
          onError: { target: 'ended', actions: ['break'] },
        },
        on: cutOff,
      },
    }),
    running: {
      entry: ['attempt'],
      invoke: {
        id: 'run',
        src: runActor(executable),
        input: ({ context: { runId, input, reports, inside } }: { context: ItemRun }) => ({ runId: `${runId}/${reports.length + 1}`, input, inside }),
        onDone: [
          ...(isRetried ? [{ guard: 'has failed by itself', target: 'deciding', actions: ['takeEnd'] }] : []),
          { target: 'ended', actions: ['takeEnd'] },
        ],
        onError: { target: 'ended', actions: ['break'] },
      },
      on: {
        'ask.reported': { actions: ['passReport'] },
        approve: { actions: ['tellRun'] },
        // Its run says what it has used.
        cancel: { actions: ['stop', 'tellRun'] },
      },
    },
    ...(isRetried && {
      deciding: {
        invoke: {
          id: retryActor,
          src: retryActor,
          input: ({ context: { attempts, end } }: { context: ItemRun }) => ({ attempt: attempts, error: end?.error }),
          onDone: [{ guard: 'tries again', target: 'pausing', actions: ['pause', 'tellRetry'] }, { target: 'ended' }],
          onError: { target: 'ended', actions: ['break'] },
        },
        on: cutOff,
      },
      pausing: { after: { pause: 'running' }, on: cutOff },
    }),
    ended: { type: 'final' },
  },
})
