/** The states and arrows of a run of an agent. Plain data, but for what is read from events. */
import { tellEvent } from '../awaited.ts'
import { runsEndMs } from '../run.rules.ts'
import { type AgentRun, askInput } from './agent.context.ts'
import { type AroundShape, aroundStates, endsOf, isPaced, keptOf, stepStates } from './around.chart.rules.ts'

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
  /** What stands around it, if anything does. */
  around?: AroundShape
  /** A run inside of it may wait for events. */
  tells?: true
}

/** Code of its author: what the model is told, and whether its answer is what it has to be. */
export const promptActor = 'prompt()'
export const checkActor = 'check()'

const runOf = ({ context }: { context: AgentRun }) => context

/** Where it leads that there is no answer. */
const failingOf = ({ name, around }: AgentShape): string => (around?.recovers ? `#${name}.working.recovering` : endsOf(name, around).failed)

/** Where its answer leads, whatever that is. */
const answersOf = (shape: AgentShape) => {
  const { name, isChecked, inner, around } = shape
  const { failed } = endsOf(name, around)
  const fits = isChecked ? 'checking' : keptOf(name, around)
  return [
    ...(around && isPaced(around)
      ? [
          { guard: 'was refused', target: failed, actions: ['takeAnswer', 'failRefused'] },
          { guard: 'has spoken for itself', target: fits, actions: ['takeAnswer', 'takeSaid'] },
        ]
      : []),
    { guard: 'was cancelled', target: `#${name}.cancelled`, actions: ['takeAnswer', 'markCancelled'] },
    ...(Object.keys(inner).length > 0 ? [{ guard: 'has failed, and runs inside', target: 'returning', actions: ['takeAnswer', 'leaveRuns'] }] : []),
    { guard: 'has failed', target: failingOf(shape), actions: ['takeAnswer'] },
    { guard: 'was kept back', target: failed, actions: ['takeAnswer', 'failKeptBack'] },
    { target: fits, actions: ['takeAnswer', ...(isChecked ? [] : ['takeText']), ...(around?.closes ? ['takeRevised'] : [])] },
  ]
}

export const chartOf = (shape: AgentShape) => {
  const { name, version, description, isChecked, inner, around } = shape
  const insides = Object.values(inner).map(({ executable }) => executable)
  const runsAny = insides.length > 0
  const { failed } = endsOf(name, around)
  const kept = keptOf(name, around)
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
        initial: around?.wraps ? 'entering' : 'preparing',
        ...(runsAny && { exit: ['stopRuns'] }),
        on: {
          'ask.reported': { actions: ['hear', 'tellHeard', 'passReport', ...(runsAny ? ['run', 'leaveRun'] : [])] },
          approve: { actions: ['decide'] },
          ...(shape.tells && { [tellEvent]: { actions: ['passDown'] } }),
          ...(runsAny && {
            'xstate.done.actor.*': { actions: ['takeRun', 'answerCall'] },
            'xstate.error.actor.*': { actions: ['breakRun'] },
          }),
        },
        states: {
          preparing: {
            ...(!around?.wraps && { entry: ['tellStarting'] }),
            invoke: {
              id: promptActor,
              src: promptActor,
              input: runOf,
              onDone: { target: around?.recalls ? 'recalling' : 'asking', actions: ['takeTold'] },
              onError: { target: failed, actions: ['failToTell'] },
            },
            on: { cancel: { target: `#${name}.cancelled`, actions: ['stop', 'markCancelled'] } },
          },
          asking: {
            invoke: {
              id: 'ask',
              src: 'ask',
              input: ({ context }: { context: AgentRun }) => askInput(name, context),
              onDone: answersOf(shape),
              onError: { target: failed, actions: ['failToAsk'] },
            },
            on: {
              cancel: [
                // They say what they have used before the calls end that they are.
                ...(runsAny ? [{ guard: 'runs inside', actions: ['stop', 'cancelRuns'] }] : []),
                { actions: ['stop', 'tellAskToStop'] },
              ],
            },
            ...(around && isPaced(around) && stepStates(around)),
          },
          ...(runsAny && { returning: returning(shape) }),
          ...(isChecked && {
            checking: {
              invoke: {
                id: checkActor,
                src: checkActor,
                input: runOf,
                onDone: [
                  { guard: 'fits', target: kept, actions: ['takeData'] },
                  { guard: 'may be repaired', target: 'asking', actions: ['askAgain', 'tellRepair'] },
                  { target: failed, actions: ['failUnfit'] },
                ],
                onError: { target: failed, actions: ['failToAsk'] },
              },
              on: { cancel: { target: `#${name}.cancelled`, actions: ['stop', 'markCancelled'] } },
            },
          }),
          ...(around && aroundStates(name, around, isChecked ? 'checking' : kept)),
        },
      },
      completed: { type: 'final', tags: ['settled'], entry: ['end', 'close', 'tellCompleted'] },
      failed: {
        tags: ['settled'],
        entry: ['end', 'tellFailed'],
        always: { guard: 'is inside', target: 'returned' },
        on: { resume: resumingOf(shape) },
      },
      cancelled: {
        tags: ['settled'],
        entry: ['end', 'tellCancelled'],
        always: { guard: 'is inside', target: 'returned' },
        on: { resume: resumingOf(shape) },
      },
      returned: { type: 'final', entry: ['close'] },
    },
  }
}

/** A limit has ended its question, and not those that ran inside of it: they say what they have used. */
const returning = (shape: AgentShape) => {
  const cancelled = `#${shape.name}.cancelled`
  const failed = failingOf(shape)
  return {
    on: {
      cancel: { actions: ['stop'] },
      'xstate.done.actor.*': { actions: ['takeRun'] },
      'xstate.error.actor.*': { actions: ['dropRun'] },
    },
    always: [
      { guard: 'nothing runs inside, and was cancelled', target: cancelled, actions: ['markCancelled'] },
      { guard: 'nothing runs inside', target: failed },
    ],
    after: {
      [runsEndMs]: [
        { guard: 'was stopped', target: cancelled, actions: ['stopRuns', 'markCancelled'] },
        { target: failed, actions: ['stopRuns'] },
      ],
    },
  }
}

/** Where its prompt could not be made, nothing has been asked; where it had its data, only code around it has failed. */
const resumingOf = ({ name, isChecked, around }: AgentShape) => [
  ...(around?.wraps ? [{ guard: 'has its data', target: 'working.leaving', actions: ['mend'] }] : []),
  ...(around?.budget
    ? [
        {
          guard: 'has answered too late',
          ...(isChecked
            ? { target: 'working.checking', actions: ['mend', 'takeLate'] }
            : { target: keptOf(name, around), actions: ['mend', 'takeLate', 'takeLateData'] }),
        },
      ]
    : []),
  { guard: 'was asked', target: 'working.asking', actions: ['mend'] },
  { target: 'working', actions: ['mend'] },
]
