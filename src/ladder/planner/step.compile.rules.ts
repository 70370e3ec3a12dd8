/** What the names in the chart of one step mean. */
import { type AnyActorLogic, type AnyStateMachine, assign, type EventObject, sendParent, sendTo, setup } from 'xstate'
import { type LadderErrorBody, wordsOf } from '../errors.ts'
import { type RunEnd, runActor } from '../run.rules.ts'
import { codeActor, judgeActor, type PlannerShape, stepChartOf } from './planner.chart.rules.ts'
import type { Judged, StepEnd, StepInput, StepRun } from './planner.context.ts'
import type { Done } from './planner.effects.ts'

type Ended = EventObject & { output?: unknown; error?: unknown }
type StepParts = { code: AnyActorLogic; judge: AnyActorLogic; run?: AnyActorLogic | undefined }

const doneIn = (event: EventObject): Done => (event as Ended).output as Done
const runEndIn = (event: EventObject): RunEnd => (event as Ended).output as RunEnd

export const stepMachine = (
  shape: PlannerShape,
  capability: PlannerShape['capabilities'][number],
  { code, judge, run }: StepParts,
): AnyStateMachine => {
  const broken = ({ step }: StepRun, what: string, thrown: unknown): LadderErrorBody => ({
    code: 'STEP_FAILED',
    category: 'execution',
    message: `${what} the step '${step.id}': ${wordsOf(thrown)}`,
    context: { step: step.id },
  })
  const actors = {
    [codeActor(capability.name)]: code,
    ...(shape.isJudged && { [judgeActor]: judge }),
    ...(run && { [runActor(capability.executable as string)]: run }),
  }
  return setup({
    types: { context: {} as StepRun, input: {} as StepInput, output: {} as StepEnd },
    actors: actors as unknown as Record<string, never>,
    actions: {
      takeValue: assign(({ event }) => ({ value: (doneIn(event) as { output: unknown }).output })),
      takeOutput: assign(({ event }) => doneIn(event)),
      takeRun: assign(({ event }) => {
        const { data, error, report } = runEndIn(event)
        return { report, ...(error ? { error } : { output: data }) }
      }),
      takeVerdict: assign(({ event }) => ({ judged: (event as unknown as Ended).output as Judged })),
      break: assign(({ context, event }) => ({ error: broken(context, 'what cannot be stored was given by', (event as unknown as Ended).error) })),
      breakVerdict: assign(({ context, event }) => ({
        error: broken(context, `onStep of '${shape.name}' failed after`, (event as unknown as Ended).error),
        judged: { decision: 'abort' as const },
      })),
      passReport: sendParent(({ event }) => event),
      tellRun: sendTo('run', ({ event }) => event),
      stop: assign({ isCutOff: true }),
    },
    guards: { 'has failed': ({ event }) => 'error' in doneIn(event), 'was stopped': ({ context }) => context.isCutOff === true },
  }).createMachine({
    ...stepChartOf(shape, capability),
    context: ({ input }: { input: StepInput }): StepRun => input,
    output: ({ context: { output, error, report, judged, isCutOff } }: { context: StepRun }): StepEnd => ({
      ...(error ? { error } : { output }),
      // What came to its end all the same counts.
      ...(isCutOff && !(report && !error) && { isCutOff }),
      ...(report && { report }),
      decision: judged?.decision ?? null,
      ...(judged?.feedback !== undefined && { feedback: judged.feedback }),
    }),
  } as never) as unknown as AnyStateMachine
}
