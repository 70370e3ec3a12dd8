/** The states and arrows of a run of an agent. Plain data, but for what is read from events. */
import { type AgentRun, askInput } from './agent.context.ts'

/** What the chart needs to know of an agent. */
export type AgentShape = {
  name: string
  version?: string
  description?: string
  maxTrips: number
  repair: number
  /** Its answer has to be something. */
  isChecked: boolean
  /** By the name of a tool, the executable that runs inside of its run; `isText`: it is given the text alone. */
  inner: Readonly<Record<string, { executable: string; isText: boolean }>>
}

/** Code of its author: what the model is told, and whether its answer is what it has to be. */
export const promptActor = 'prompt()'
export const checkActor = 'check()'

const runOf = ({ context }: { context: AgentRun }) => context

export const chartOf = ({ name, version, description, isChecked, inner }: AgentShape) => {
  const insides = Object.values(inner).map(({ executable }) => executable)
  const runsAny = insides.length > 0
  const answered = [
    { guard: 'was cancelled', target: `#${name}.cancelled`, actions: ['takeAnswer', 'markCancelled'] },
    { guard: 'has failed', target: `#${name}.failed`, actions: ['takeAnswer'] },
    { guard: 'was kept back', target: `#${name}.failed`, actions: ['takeAnswer', 'failKeptBack'] },
    isChecked ? { target: 'checking', actions: ['takeAnswer'] } : { target: `#${name}.completed`, actions: ['takeAnswer', 'takeText'] },
  ]
  return {
    id: name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    initial: 'ready',
    states: {
      ready: {
        always: { guard: 'is inside', target: 'working' },
        on: { execute: { target: 'working' } },
      },
      working: {
        ...(runsAny && { description: `Inside of it run ${insides.join(', ')}, as tools.` }),
        initial: 'preparing',
        ...(runsAny && { exit: ['stopRuns'] }),
        on: {
          'ask.reported': { actions: ['hear', 'tellHeard', 'passReport', ...(runsAny ? ['run', 'stopRun'] : [])] },
          approve: { actions: ['decide'] },
          ...(runsAny && {
            'xstate.done.actor.*': { actions: ['takeRun', 'answerCall'] },
            'xstate.error.actor.*': { actions: ['breakRun'] },
          }),
        },
        states: {
          preparing: {
            entry: ['tellStarting'],
            invoke: {
              id: promptActor,
              src: promptActor,
              input: runOf,
              onDone: { target: 'asking', actions: ['takeTold'] },
              onError: { target: `#${name}.failed`, actions: ['failToTell'] },
            },
            on: { cancel: { target: `#${name}.cancelled`, actions: ['stop', 'markCancelled'] } },
          },
          asking: {
            invoke: {
              id: 'ask',
              src: 'ask',
              input: ({ context }: { context: AgentRun }) => askInput(name, context),
              onDone: answered,
              onError: { target: `#${name}.failed`, actions: ['failToAsk'] },
            },
            on: {
              cancel: [
                // They say what they have used before the calls end that they are.
                ...(runsAny ? [{ guard: 'runs inside', actions: ['stop', 'cancelRuns'] }] : []),
                { actions: ['stop', 'tellAskToStop'] },
              ],
            },
          },
          ...(isChecked && {
            checking: {
              invoke: {
                id: checkActor,
                src: checkActor,
                input: runOf,
                onDone: [
                  { guard: 'fits', target: `#${name}.completed`, actions: ['takeData'] },
                  { guard: 'may be repaired', target: 'asking', actions: ['askAgain', 'tellRepair'] },
                  { target: `#${name}.failed`, actions: ['failUnfit'] },
                ],
                onError: { target: `#${name}.failed`, actions: ['failToAsk'] },
              },
              on: { cancel: { target: `#${name}.cancelled`, actions: ['stop', 'markCancelled'] } },
            },
          }),
        },
      },
      completed: { type: 'final', tags: ['settled'], entry: ['end', 'close', 'tellCompleted'] },
      failed: {
        tags: ['settled'],
        entry: ['end', 'tellFailed'],
        always: { guard: 'is inside', target: 'returned' },
        on: { resume: resuming },
      },
      cancelled: {
        tags: ['settled'],
        entry: ['end', 'tellCancelled'],
        always: { guard: 'is inside', target: 'returned' },
        on: { resume: resuming },
      },
      returned: { type: 'final', entry: ['close'] },
    },
  }
}

/** Its prompt could not be made: nothing has been asked. */
const resuming = [
  { guard: 'was asked', target: 'working.asking', actions: ['mend'] },
  { target: 'working', actions: ['mend'] },
]
