/** The states and arrows of a planner, and of one step by the capability that it uses. Plain data. */
import { tellEvent } from '../awaited.ts'
import { callEndActor } from '../calling/work.chart.rules.ts'
import { runActor, runsEndMs } from '../run.rules.ts'
import type { PlannerRun, StepRun } from './planner.context.ts'

export type PlannerShape = {
  name: string
  version?: string
  description?: string
  /** Who plans. */
  planner: string
  /** What plans may use; `executable`: it runs inside of the run. */
  capabilities: readonly { name: string; description: string; executable?: string }[]
  /** Steps that run at once. */
  concurrency: number
  maxSteps: number | undefined
  maxReplans: number
  /** Each plan waits for a person. */
  waits: boolean
  /** Its author is asked after each step. */
  isJudged: boolean
  /** Its author makes the data. */
  isConcluded: boolean
  /** A run inside of it may wait for events. */
  tells?: true
}

/** Code that checks a plan, judges a step, and makes the data. */
export const validateActor = 'validate()'
export const judgeActor = 'judge()'
export const outputActor = 'output()'
/** The run that plans. */
export const planActor = 'plan'
/** A step by its capability; code that makes ready what its executable is given, or does the work. */
export const stepActor = (capability: string): string => `step(${capability})`
export const codeActor = (capability: string): string => `code(${capability})`

export const chartOf = (shape: PlannerShape) => {
  const { name, version, description, planner, waits, isConcluded } = shape
  const failed = { target: `#${name}.failed` }
  /** What it goes on with when it is resumed. */
  const resume = [
    ...(waits ? [{ guard: 'was awaited', target: '#awaiting', actions: ['mend'] }] : []),
    { guard: 'was doing', target: 'working.doing', actions: ['mend'] },
    { guard: 'was given', target: 'working.validating', actions: ['mend'] },
    { target: 'working.planning', actions: ['mend'] },
  ]
  const asking = (entry: readonly string[]) => ({
    description: `Inside of it runs ${planner}.`,
    // No invoke: where the whole run is cancelled, it lives on until it has told what it has used.
    entry: [...entry, 'startPlanning'],
    exit: ['leavePlanning'],
    on: {
      [`xstate.done.actor.${planActor}`]: [
        { guard: 'came to nothing', ...failed, actions: ['takePlanning', 'failToPlan'] },
        { target: 'validating', actions: ['takePlanning'] },
      ],
      [`xstate.error.actor.${planActor}`]: { ...failed, actions: ['breakDown'] },
    },
  })
  /** They are told to end, and what they come to is taken. */
  const leaving = (target: string, actions: readonly string[]) => ({
    description: 'What runs inside says what it has used.',
    on: {
      'xstate.done.actor.*': { actions: ['takeLeft', 'dropActor'] },
      'xstate.error.actor.*': { actions: ['breakLeft', 'dropActor'] },
    },
    always: { guard: 'runs nothing', target, actions },
    after: { [runsEndMs]: { target, actions: ['stopRuns', ...actions] } },
  })
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
        initial: 'beginning',
        on: {
          cancel: [
            { guard: 'runs inside', target: 'cancelling', actions: ['cancel', 'cancelRuns'] },
            { target: 'cancelled', actions: ['cancel'] },
          ],
          'ask.reported': { actions: ['hear', 'passReport'] },
          approve: { actions: ['decide'] },
          ...(shape.tells && { [tellEvent]: { actions: ['passDown'] } }),
        },
        states: {
          beginning: { always: [{ guard: 'was given', target: 'validating' }, { target: 'planning' }] },
          planning: asking(['tellPlanning']),
          validating: {
            invoke: {
              id: validateActor,
              src: validateActor,
              input: ({ context }: { context: PlannerRun }) => context,
              onDone: [
                ...(waits ? [{ guard: 'is invalid and was awaited', target: '#awaiting', actions: ['refuse'] }] : []),
                { guard: 'is invalid', ...failed, actions: ['failInvalid'] },
                ...(waits
                  ? [
                      { guard: 'is approved', target: 'doing', actions: ['adopt', 'tellPlanned'] },
                      { guard: 'is inside', ...failed, actions: ['failToWait'] },
                      { target: '#awaiting', actions: ['await', 'tellAwaiting'] },
                    ]
                  : [{ target: 'doing', actions: ['adopt', 'tellPlanned'] }]),
              ],
              onError: { ...failed, actions: ['breakDown'] },
            },
          },
          doing: {
            description: `Steps use ${shape.capabilities.map((one) => one.name).join(', ')}.`,
            entry: ['fill'],
            always: [
              { guard: 'aborts', target: `#${name}.aborting`, actions: ['cancelRuns'] },
              ...(shape.maxReplans > 0 ? [{ guard: 'may replan', target: 'replanning', actions: ['replan'] }] : []),
              { guard: 'may not replan', ...failed, actions: ['failToReplan'] },
              { guard: 'wears out', ...failed, actions: ['wearOut'] },
              { guard: 'is over', target: isConcluded ? `#${name}.concluding` : `#${name}.completed` },
            ],
            on: {
              'xstate.done.actor.*': { actions: ['takeStep', 'tellStep', 'dropActor', 'fill'] },
              'xstate.error.actor.*': { actions: ['breakStep', 'tellStep', 'dropActor', 'fill'] },
            },
          },
          ...(shape.maxReplans > 0 && { replanning: asking(['tellReplanning']) }),
        },
      },
      aborting: leaving('failed', ['abort']),
      cancelling: leaving('cancelled', ['cutOff']),
      ...(waits && {
        'awaiting-approval': {
          id: 'awaiting',
          tags: ['settled'],
          on: {
            'plan.approve': { target: 'working.validating', actions: ['takeApproved'] },
            cancel: { target: 'cancelled', actions: ['cancel'] },
          },
        },
      }),
      ...(isConcluded && {
        concluding: {
          invoke: {
            id: outputActor,
            src: outputActor,
            input: ({ context }: { context: PlannerRun }) => context,
            onDone: { target: 'completed', actions: ['takeData'] },
            onError: { target: 'failed', actions: ['failToConclude'] },
          },
          on: { cancel: { target: 'cancelled', actions: ['cancel'] } },
        },
      }),
      completed: { type: 'final', tags: ['settled'], entry: ['complete', 'tellCompleted'] },
      failed: { tags: ['settled'], entry: ['end', 'tellFailed'], always: { guard: 'is inside', target: 'returned' }, on: { resume } },
      cancelled: { tags: ['settled'], entry: ['end', 'tellCancelled'], always: { guard: 'is inside', target: 'returned' }, on: { resume } },
      returned: { type: 'final' },
    },
  }
}

export const stepChartOf = (
  { name, isJudged, tells }: PlannerShape,
  { name: capability, executable, description }: PlannerShape['capabilities'][number],
) => {
  const after = isJudged ? 'judging' : 'ended'
  const calling = { 'ask.reported': { actions: ['hear', 'passReport'] } }
  const left = { guard: 'has called', target: 'leaving' }
  const cutOff = {
    ...calling,
    cancel: [
      { ...left, actions: ['stop', 'cutOff'] },
      { target: 'ended', actions: ['cutOff'] },
    ],
  }
  const code = (onDone: readonly unknown[]) => ({
    id: 'code',
    src: codeActor(capability),
    input: ({ context }: { context: StepRun }) => context,
    onDone,
    onError: { target: 'ended', actions: ['break'] },
  })
  return {
    id: `${name}-${capability}`,
    description,
    initial: executable === undefined ? 'running' : 'preparing',
    states: {
      ...(executable !== undefined && {
        preparing: {
          on: cutOff,
          invoke: code([
            { guard: 'has failed', target: after, actions: ['takeOutput'] },
            { target: 'running', actions: ['takeValue'] },
          ]),
        },
      }),
      running:
        executable === undefined
          ? { on: cutOff, invoke: code([{ target: after, actions: ['takeOutput'] }]) }
          : {
              invoke: {
                id: 'run',
                src: runActor(executable),
                input: ({ context: { runId, value, attempt, inside } }: { context: StepRun }) => ({
                  runId: `${runId}/${attempt}`,
                  input: value,
                  inside,
                }),
                onDone: [
                  ...(isJudged ? [{ guard: 'was cancelled', target: 'ended', actions: ['takeRun'] }] : []),
                  { target: after, actions: ['takeRun'] },
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
      ...(isJudged && {
        judging: {
          // It has its output.
          on: { ...calling, cancel: [{ ...left, actions: ['stop'] }, { target: 'ended' }] },
          invoke: {
            id: judgeActor,
            src: judgeActor,
            input: ({ context }: { context: StepRun }) => context,
            onDone: { target: 'ended', actions: ['takeVerdict'] },
            onError: { target: 'ended', actions: ['breakVerdict'] },
          },
        },
      }),
      leaving: {
        description: 'What its code has called says what it has used.',
        invoke: {
          id: 'end',
          src: callEndActor,
          input: ({ context: { calls = [], reason = 'cancelled' } }: { context: StepRun }) => ({ calls, reason }),
          onDone: { target: 'ended', actions: ['takeCalled'] },
          onError: 'ended',
        },
      },
      ended: { type: 'final' },
    },
  }
}
