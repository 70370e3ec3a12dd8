/** The states and arrows of a supervisor: its intents are regions by the names that its author gave. Plain data. */
import { wrapped } from '../around/wrapped.chart.rules.ts'
import { about, cancelling, deciding, hearing, leaving, telling, timeOf, working } from '../calling/work.chart.rules.ts'
import { ackWork, type SupervisorRun } from './supervisor.context.ts'

export type SupervisorShape = {
  type: 'supervisor' | 'team'
  name: string
  version?: string
  description?: string
  intents: readonly { name: string; executable?: string; timeoutMs?: number }[]
  /** The executable that chooses, where no code does. */
  router?: string
  /** Nobody does: it is over after the iteration that was classified. */
  choosesOnce?: true
  /** Who says what a request is, and who acknowledges it, where somebody does. */
  classifier?: { executable: string | undefined }
  ack?: { executable: string | undefined }
  maxIterations: number
  /** Code stands around it. */
  wraps?: true
  /** One decision and one dispatch are all: it is a turn of an orchestrator. */
  isSingle?: true
  /** A run inside of it may wait for events. */
  tells?: true
}

/** Code that chooses, that puts together what branches did, and that makes the data. */
export const routeActor = 'route()'
export const classifyActor = 'classify()'
export const mergeActor = 'merge()'
export const outputActor = 'output()'

export const chartOf = (shape: SupervisorShape) => (shape.wraps ? wrapped(bareChart(shape), 'working') : bareChart(shape))

const bareChart = (shape: SupervisorShape) => {
  const { name, version, description, intents, router, classifier, ack, choosesOnce, isSingle, tells } = shape
  const failed = { target: `#${name}.failed` }
  const broken = { ...failed, actions: ['breakDown'] }
  const chosen = [
    { guard: 'has failed', ...failed, actions: ['fail'] },
    { guard: 'chose nobody', target: `#${name}.concluding`, actions: ['tellDecided', 'endByChoice'] },
    { target: '#dispatching', actions: ['tellDecided'] },
  ]
  const classifying =
    classifier && working({ name: classifyActor, isRetried: false, executable: classifier.executable, reader: 'router', after: chosen, broken })
  const choosing = working({ name: routeActor, isRetried: false, executable: router, reader: 'router', after: chosen, broken })
  const regionOf = ({ name: intent, executable, timeoutMs }: SupervisorShape['intents'][number]) => {
    const after = [{ target: 'ended' }]
    const expired = [about('expire', intent), about('tellSettled', intent)]
    const { initial, states } = working({
      name: intent,
      isRetried: false,
      executable,
      after,
      broken: { target: 'ended', actions: [about('breakBranch', intent), about('tellSettled', intent)] },
    })
    return {
      initial: 'resting',
      ...(timeoutMs !== undefined && {
        after: {
          [timeOf(intent)]: [
            { guard: about('has a run inside', intent), target: '.leaving', actions: [about('cancelRun', intent)] },
            { guard: about('is going', intent), target: '.ended', actions: expired },
          ],
        },
      }),
      states: {
        // All that are not chosen stay: what leaves at once is compared with each other by XState, at the price of a third power.
        resting: { always: { guard: about('is chosen', intent), target: initial, actions: [about('tellBranch', intent)] } },
        ...states,
        ...(timeoutMs !== undefined && { leaving: leaving(intent, expired) }),
        ended: { type: 'final' },
      },
    }
  }
  const iterations = {
    initial: 'iterating',
    states: {
      iterating: {
        entry: ['tellIteration'],
        always: [
          { guard: 'too many iterations', ...failed, actions: ['wearOut'] },
          { guard: 'leads nowhere', target: `#${name}.ending`, actions: ['follow', 'endByChoice'] },
          { guard: 'is directed', target: 'dispatching', actions: ['follow', 'tellDecided'] },
          ...(classifier ? [{ guard: 'is the first', target: 'classifying', actions: ['tellClassifying'] }] : []),
          choosesOnce ? { target: `#${name}.concluding`, actions: ['endClassified'] } : { target: 'choosing', actions: ['tellDeciding'] },
        ],
      },
      ...(classifying && { classifying }),
      ...(!choosesOnce && { choosing }),
      dispatching: {
        id: 'dispatching',
        type: 'parallel',
        states: Object.fromEntries(intents.map((intent) => [intent.name, regionOf(intent)])),
        always: { guard: 'all have ended', target: 'merging' },
      },
      merging: {
        ...(ack && { entry: ['leaveAck'] }),
        ...deciding(
          mergeActor,
          [
            { guard: 'has failed', ...failed, actions: ['fail'] },
            { guard: 'is satisfied', target: `#${name}.ending`, actions: ['endSatisfied'] },
            ...(isSingle
              ? [
                  { guard: 'came to nothing', ...failed, actions: ['failAsBranch'] },
                  { target: `#${name}.ending`, actions: ['endSingle'] },
                ]
              : [{ target: 'iterating' }]),
          ],
          broken,
        ),
      },
    },
  }
  const cutOff = cancelling(name)
  const goOn = [
    // All iterations have ended: only its output could not be made.
    { guard: 'was concluding', target: 'concluding', actions: ['mend'] },
    { target: 'working', actions: ['mend'] },
  ]
  return {
    id: name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    initial: 'ready',
    states: {
      ready: {
        always: { guard: 'is inside', target: 'working', actions: ['begin'] },
        on: { execute: { target: 'working', actions: ['begin'] } },
      },
      working: {
        on: {
          cancel: [cutOff.arrow, { target: `#${name}.cancelled`, actions: ['cancel'] }],
          ...hearing,
          ...(tells && telling),
        },
        ...(ack ? { type: 'parallel', states: { iterations, acknowledging: acknowledging(ack.executable) } } : iterations),
      },
      cancelling: cutOff.state,
      ending: { always: [{ guard: 'has its data', target: 'completed' }, { target: 'concluding' }] },
      concluding: {
        entry: [...(ack ? ['leaveAck'] : []), 'conclude'],
        invoke: {
          id: outputActor,
          src: outputActor,
          input: ({ context }: { context: SupervisorRun }) => context,
          onDone: [
            { guard: 'has failed', target: 'failed', actions: ['fail'] },
            { target: 'completed', actions: ['complete'] },
          ],
          onError: { target: 'failed', actions: ['breakDown'] },
        },
        on: { cancel: { target: 'cancelled', actions: ['cancel'] } },
      },
      completed: { type: 'final', tags: ['settled'], entry: ['end', 'tellCompleted'] },
      failed: {
        tags: ['settled'],
        entry: ['end', 'tellFailed'],
        always: { guard: 'is inside', target: 'returned' },
        on: { resume: goOn },
      },
      cancelled: {
        tags: ['settled'],
        entry: ['end', 'tellCancelled'],
        always: { guard: 'is inside', target: 'returned' },
        on: { resume: goOn },
      },
      returned: { type: 'final' },
    },
  }
}

/** Beside the first iteration, and once: whatever becomes of it, iterations go on. */
const acknowledging = (executable: string | undefined) => {
  const broken = { target: 'over', actions: [about('breakAck', ackWork), about('tellSettled', ackWork)] }
  const { initial, states } = working({ name: ackWork, isRetried: false, executable, reader: 'ack', after: [{ target: 'over' }], broken })
  return {
    initial: 'open',
    states: {
      open: {
        initial: 'choosing',
        always: { guard: 'was left behind', target: 'closed' },
        states: {
          choosing: {
            always: [
              { guard: 'was acknowledged', target: 'over' },
              { target: initial, actions: ['beginAck'] },
            ],
          },
          ...states,
          over: {},
        },
      },
      closed: {},
    },
  }
}
