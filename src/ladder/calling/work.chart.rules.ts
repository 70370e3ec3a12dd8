/** The states of a piece of an author's code, in which an executable may run. Plain data. */
import { tellEvent } from '../awaited.ts'
import type { HistoryReader } from '../history.rules.ts'
import { runsEndMs } from '../run.rules.ts'
import type { WorkState } from './work.context.ts'

export type Arrow = { target: string; guard?: unknown; actions?: readonly unknown[] }

type WorkShape = {
  name: string
  /** It may be tried again. */
  isRetried: boolean
  /** The executable that runs inside of it, if one does: its code is asked before and after that. */
  executable: string | undefined
  /** As whom that one is told what was said before. Default: agents. */
  reader?: HistoryReader
  /** Where it leads when it has ended, and where it leads when what it gave cannot be stored. */
  after: readonly Arrow[]
  broken: Arrow
}

/** A run inside of a piece of work, as its parent calls it. */
export const runOf = (work: string): string => `run of ${work}`

/** What tells a run that code has called that nobody wants it any more. */
export const callEndActor = 'end()'

/** An action or a guard about one step, intent or other work. */
export const about = (type: string, work: string) => ({ type, params: { step: work } })

export const working = ({ name, isRetried, executable, reader, after, broken }: WorkShape) => {
  const code = (onDone: readonly unknown[]) => ({
    id: name,
    src: name,
    input: ({ context }: { context: WorkState }) => ({ run: context, attempt: context.going[name]?.attempts ?? 1 }),
    onDone,
    onError: broken,
  })
  const ends = [
    ...(isRetried ? [{ guard: 'tries again', target: 'pausing', actions: [about('tellRetry', name), about('retry', name)] }] : []),
    ...after.map((arrow) => settling(name, arrow)),
  ]
  return {
    initial: 'running',
    states: {
      running: {
        entry: [about('attempt', name)],
        invoke: code([...(executable ? [{ guard: 'asks', target: 'asking', actions: [about('ask', name)] }] : []), ...ends]),
      },
      ...(executable && {
        asking: {
          // No invoke: where the whole run is cancelled, it lives on until it has told what it has used.
          entry: [{ type: 'startRun', params: { step: name, executable, ...(reader && { reader }) } }],
          exit: [about('leaveRun', name)],
          on: {
            [`xstate.done.actor.${runOf(name)}`]: { target: 'deciding', actions: [about('takeAnswer', name)] },
            [`xstate.error.actor.${runOf(name)}`]: broken,
          },
        },
        deciding: { invoke: code(ends) },
      }),
      ...(isRetried && { pausing: { after: { [`pause of ${name}`]: 'running' } } }),
    },
  }
}

/** Code that decides where work leads which is done already. */
export const deciding = (name: string, after: readonly Arrow[], broken: Arrow) => ({
  invoke: {
    id: name,
    src: name,
    input: ({ context }: { context: WorkState }) => ({ run: context, attempt: 1 }),
    onDone: after.map((arrow) => settling(name, arrow)),
    onError: broken,
  },
})

export const settling = (name: string, { actions = [], ...arrow }: Arrow) => ({
  ...arrow,
  actions: [about('settle', name), about('tellSettled', name), ...actions],
})

/** Where a run with others inside of it is cancelled: they are told, and what they come to is taken. @param name id of the chart */
export const cancelling = (name: string) => ({
  arrow: { guard: 'runs inside', target: `#${name}.cancelling`, actions: ['cancel', 'cancelRuns'] },
  state: {
    description: 'Those inside say what they have used.',
    on: {
      'xstate.done.actor.*': { actions: ['takeCutOff'] },
      'xstate.error.actor.*': { actions: ['dropRun'] },
    },
    always: { guard: 'nothing runs inside', target: `#${name}.cancelled`, actions: ['end'] },
    after: { [runsEndMs]: { target: `#${name}.cancelled`, actions: ['stopRuns', 'end'] } },
  },
})

/** The time that work may take, as its delay is called. */
export const timeOf = (work: string): string => `time of ${work}`

/** The time of a piece of work is up: what runs inside of it is told, and what that comes to is taken. @param over what is done then */
export const leaving = (work: string, over: readonly unknown[]) => ({
  on: {
    'xstate.done.actor.*': { guard: about('is inside of', work), actions: ['takeCutOff'] },
    'xstate.error.actor.*': { guard: about('is inside of', work), actions: ['dropRun'] },
  },
  always: { guard: about('has no run inside', work), target: 'ended', actions: over },
  after: { [runsEndMs]: { target: 'ended', actions: [about('stopRun', work), ...over] } },
})

/** What somebody sends to the run and a run inside of it may wait for. */
export const telling = { [tellEvent]: { actions: ['takeTold', 'passDown'] } }

/** What is said of agents inside, and what is said to them. */
export const hearing = { 'ask.reported': { actions: ['hear', 'passReport'] }, approve: { actions: ['decide'] } }
