/** The states and arrows of a planner, and of one step by the capability that it uses. Plain data. */
import { below, runActor, runsEndMs } from '../run.rules.ts'
import { type PlannerRun, planningRun, type StepRun } from './planner.context.ts'

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
}

/** Code that checks a plan, judges a step, and makes the data. */
export const validateActor = 'validate()'
export const judgeActor = 'judge()'
export const outputActor = 'output()'
/** A step by its capability; code that makes ready what its executable is given, or does the work. */
export const stepActor = (capability: string): string => `step(${capability})`
export const codeActor = (capability: string): string => `code(${capability})`

export const chartOf = (shape: PlannerShape, question: (run: PlannerRun) => string) => {
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
    entry,
    invoke: {
      id: 'plan',
      src: runActor(planner),
      input: ({ context }: { context: PlannerRun }) => ({
        runId: planningRun(context),
        input: question(context),
        inside: below(context, context.runId),
      }),
      onDone: [
        { guard: 'was cancelled', target: `#${name}.cancelled`, actions: ['takePlanning'] },
        { guard: 'came to nothing', ...failed, actions: ['takePlanning', 'failToPlan'] },
        { target: 'validating', actions: ['takePlanning'] },
      ],
      onError: { ...failed, actions: ['breakDown'] },
    },
    // Who plans says what that has used.
    initial: 'asking',
    states: {
      asking: { on: { cancel: { target: 'ending', actions: ['cancel', 'tellPlan'] } } },
      ending: { on: { cancel: {} }, after: { [runsEndMs]: `#${name}.cancelled` } },
    },
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
          cancel: { target: 'cancelled', actions: ['cancel'] },
          'ask.reported': { actions: ['hear', 'passReport'] },
          approve: { actions: ['decide'] },
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
              { guard: 'aborts', target: `#${name}.ending`, actions: ['abort', 'cancelSteps'] },
              ...(shape.maxReplans > 0 ? [{ guard: 'may replan', target: 'replanning', actions: ['replan'] }] : []),
              { guard: 'may not replan', ...failed, actions: ['failToReplan'] },
              { guard: 'wears out', ...failed, actions: ['wearOut'] },
              { guard: 'is over', target: isConcluded ? `#${name}.concluding` : `#${name}.completed` },
            ],
            on: {
              'xstate.done.actor.*': { actions: ['takeStep', 'tellStep', 'dropStep', 'fill'] },
              'xstate.error.actor.*': { actions: ['breakStep', 'tellStep', 'dropStep', 'fill'] },
              cancel: [
                { guard: 'runs steps', target: `#${name}.ending`, actions: ['cancel', 'cancelSteps'] },
                { target: `#${name}.cancelled`, actions: ['cancel'] },
              ],
            },
          },
          ...(shape.maxReplans > 0 && { replanning: asking(['tellReplanning']) }),
        },
      },
      ending: {
        description: 'Steps that run say what they have used.',
        on: {
          'xstate.done.actor.*': { actions: ['takeStep', 'tellStep', 'dropStep'] },
          'xstate.error.actor.*': { actions: ['breakStep', 'tellStep', 'dropStep'] },
        },
        always: [
          { guard: 'has ended as cancelled', target: 'cancelled' },
          { guard: 'runs no steps', target: 'failed' },
        ],
        after: {
          [runsEndMs]: [
            { guard: 'was cancelled', target: 'cancelled', actions: ['stopSteps'] },
            { target: 'failed', actions: ['stopSteps'] },
          ],
        },
      },
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
      failed: { tags: ['settled'], entry: ['cutOff', 'tellFailed'], always: { guard: 'is inside', target: 'returned' }, on: { resume } },
      cancelled: { tags: ['settled'], entry: ['cutOff', 'tellCancelled'], always: { guard: 'is inside', target: 'returned' }, on: { resume } },
      returned: { type: 'final' },
    },
  }
}

/** Nothing of it runs that could say anything. */
const cutOff = { cancel: { target: 'ended', actions: ['stop'] } }

export const stepChartOf = (
  { name, isJudged }: PlannerShape,
  { name: capability, executable, description }: PlannerShape['capabilities'][number],
) => {
  const after = isJudged ? 'judging' : 'ended'
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
          invoke: code([
            { guard: 'has failed', target: after, actions: ['takeOutput'] },
            { target: 'running', actions: ['takeValue'] },
          ]),
          on: cutOff,
        },
      }),
      running:
        executable === undefined
          ? { invoke: code([{ target: after, actions: ['takeOutput'] }]), on: cutOff }
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
                  { guard: 'was stopped', target: 'ended', actions: ['takeRun'] },
                  { target: after, actions: ['takeRun'] },
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
      ...(isJudged && {
        judging: {
          invoke: {
            id: judgeActor,
            src: judgeActor,
            input: ({ context }: { context: StepRun }) => context,
            onDone: { target: 'ended', actions: ['takeVerdict'] },
            onError: { target: 'ended', actions: ['breakVerdict'] },
          },
          // It has come to its end: only nobody says what follows.
          on: { cancel: { target: 'ended' } },
        },
      }),
      ended: { type: 'final' },
    },
  }
}
