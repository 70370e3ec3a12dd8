/** The states and arrows of a workflow, by the names that its author gave. Plain data. */
import { wrapped } from '../around/wrapped.chart.rules.ts'
import { type Arrow, about, cancelling, deciding, hearing, settling, telling, working } from '../calling/work.chart.rules.ts'
import type { RunContext } from './workflow.context.ts'

/** What the chart needs to know of a step; its code is an actor of the same name. */
type StepShape = {
  name: string
  /** Names of those that run at once; none: it is one piece of work. */
  children: readonly string[]
  /** Where its code may lead besides to the step after it; `end` stands for the end. */
  goes: readonly string[]
  mayEnd: boolean
  /** It waits: for a time that stands here or is reckoned, for an event, or for one of them. */
  rests?: { ms?: number; event?: string; reckons: boolean }
  /** Which of its name and those of its children are tried again. */
  retried: readonly string[]
  /** By these names, the executable that runs inside of it, and the types of events that one may wait for. */
  asks: Readonly<Record<string, string>>
  hears: Readonly<Record<string, readonly string[]>>
}
export type WorkflowShape = {
  name: string
  version?: string
  description?: string
  steps: readonly StepShape[]
  maxSteps: number
  /** Code stands around it. */
  wraps?: true
}

/** The actor that makes the output of a run: no step can have this name. */
export const outputActor = 'output()'
/** The actor that reckons until when a step sleeps. */
export const untilActor = (step: string): string => `until(${step})`

/** What it gave cannot be stored. */
const broken = (name: string, step: string): Arrow => ({ target: `#${name}.failed`, actions: [about('break', step)] })

const workOf = (name: string, { retried, asks }: StepShape, step: string, after: readonly Arrow[]) => ({
  name: step,
  isRetried: retried.includes(step),
  executable: asks[step],
  after,
  broken: broken(name, step),
})

/** Nothing of it is alive but a timer. What it comes to is decided when it is over. */
const resting = (name: string, { name: step, rests = { reckons: false } }: StepShape, after: readonly Arrow[]) => ({
  initial: rests.reckons ? 'reckoning' : 'resting',
  states: {
    ...(rests.reckons && {
      reckoning: {
        invoke: {
          id: untilActor(step),
          src: untilActor(step),
          input: ({ context }: { context: RunContext }) => ({ run: context, attempt: 1 }),
          onDone: [{ guard: 'is reckoned', target: 'resting', actions: [about('restUntil', step)] }, ...after.map((arrow) => settling(step, arrow))],
          onError: broken(name, step),
        },
      },
    }),
    resting: {
      ...(!rests.reckons && { entry: [{ type: 'restFor', params: { step, ms: rests.ms ?? 0 } }] }),
      ...((rests.reckons || rests.ms !== undefined) && { after: { [`rest of ${step}`]: 'deciding' } }),
      ...(rests.event !== undefined && {
        always: { guard: about('was told before', step), target: 'deciding', actions: [about('takeKept', step)] },
        on: { [rests.event]: { target: 'deciding', actions: [about('take', step)] } },
      }),
    },
    deciding: deciding(step, after, broken(name, step)),
  },
})

/** By the type of an event. */
type EarlyArrows = Readonly<Record<string, readonly { guard: unknown; actions: readonly unknown[] }[]>>

/** A run inside may wait for events. */
const mayHear = (steps: readonly StepShape[]): boolean => steps.some(({ hears }) => Object.values(hears).some((types) => types.length > 0))

/** What comes before a step waits for it is kept for that step: one event for each. Where a run inside is there that may wait for such an event, it is for that one. */
const keptFor = (steps: readonly StepShape[]): EarlyArrows => {
  const kept: Record<string, EarlyArrows[string]> = {}
  for (const { name, rests: { event } = {} } of steps) {
    if (event === undefined) continue
    const inside = steps.flatMap(({ hears }) => Object.keys(hears).filter((work) => hears[work]?.includes(event)))
    const guard = { type: 'is still to come', params: { step: name, ...(inside.length > 0 && { inside }) } }
    kept[event] = [...(kept[event] ?? []), { guard, actions: [about('keep', name)] }]
  }
  return kept
}

/** A step may wait for an event that is called like the decision about a call. */
const besideDecisions = ({ approve, ...others }: EarlyArrows) => ({
  ...others,
  ...(approve && { approve: [...approve, { guard: 'is a decision', ...hearing.approve }] }),
})

/** All of them end, whatever becomes of the others; then what they have done to the state is put together. */
const together = (name: string, shape: StepShape, after: readonly Arrow[]) => ({
  initial: 'running',
  states: {
    running: {
      entry: [about('attempt', shape.name)],
      type: 'parallel',
      states: Object.fromEntries(
        shape.children.map((child) => {
          const { initial, states } = working(workOf(name, shape, child, [{ target: 'ended' }]))
          return [child, { initial, states: { ...states, ended: { type: 'final' } } }]
        }),
      ),
      onDone: 'joining',
    },
    joining: deciding(shape.name, after, broken(name, shape.name)),
  },
})

const stateOf = (name: string, step: StepShape, next: string) => {
  const after: Arrow[] = [
    { guard: 'has failed', target: `#${name}.failed`, actions: ['fail'] },
    ...(step.mayEnd ? [{ guard: 'ends', target: `#${name}.concluding` }] : []),
    ...step.goes.map((other) => ({ guard: about('leads to', other), target: `#${name}.steps.${other}` })),
    { target: next },
  ]
  const { initial, states } = partsOf(name, step, after)
  return {
    entry: [about('enter', step.name), about('tell', step.name), ...(step.rests ? [about('attempt', step.name)] : [])],
    initial: 'entering',
    states: {
      entering: {
        always: [
          { guard: 'too many steps', target: `#${name}.failed`, actions: ['wearOut'] },
          { guard: about('often entered', step.name), target: initial, actions: [about('warn', step.name)] },
          { target: initial },
        ],
      },
      ...states,
    },
  }
}

const partsOf = (name: string, step: StepShape, after: readonly Arrow[]) => {
  if (step.rests) return resting(name, step, after)
  return step.children.length > 0 ? together(name, step, after) : working(workOf(name, step, step.name, after))
}

export const chartOf = (shape: WorkflowShape) => (shape.wraps ? wrapped(bareChart(shape), firstOf(shape)) : bareChart(shape))

const firstOf = ({ name, steps }: WorkflowShape): string => `#${name}.steps.${steps[0]?.name}`

const bareChart = (shape: WorkflowShape) => {
  const { name, version, description, steps } = shape
  const first = firstOf(shape)
  const resume = steps.map((step) => ({ guard: about('stopped at', step.name), target: `#${name}.steps.${step.name}`, actions: ['mend'] }))
  const cutOff = cancelling(name)
  const early = keptFor(steps)
  // All steps have ended: only its output could not be made.
  const goOn = [...resume, { target: 'concluding', actions: ['mend'] }]
  return {
    id: name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    initial: 'ready',
    states: {
      ready: {
        always: { guard: 'is inside', target: first, actions: ['begin'] },
        on: { execute: { target: first, actions: ['begin'] } },
      },
      steps: {
        initial: steps[0]?.name,
        states: Object.fromEntries(
          steps.map((step, index) => {
            const next = steps[index + 1]
            return [step.name, stateOf(name, step, next ? `#${name}.steps.${next.name}` : `#${name}.concluding`)]
          }),
        ),
        on: {
          cancel: [cutOff.arrow, { target: `#${name}.cancelled`, actions: ['cancel'] }],
          ...hearing,
          ...(mayHear(steps) && telling),
          ...besideDecisions(early),
        },
      },
      cancelling: cutOff.state,
      concluding: {
        entry: ['leaveSteps'],
        invoke: {
          id: outputActor,
          src: outputActor,
          input: ({ context }: { context: RunContext }) => context,
          onDone: { target: 'completed', actions: ['complete'] },
          onError: { target: 'failed', actions: ['failToConclude'] },
        },
        on: { cancel: { target: 'cancelled', actions: ['cancel'] } },
      },
      completed: { type: 'final', tags: ['settled'], entry: ['end', 'tellCompleted'] },
      failed: { tags: ['settled'], entry: ['tellFailed'], always: { guard: 'is inside', target: 'returned' }, on: { resume: goOn, ...early } },
      cancelled: { tags: ['settled'], entry: ['tellCancelled'], always: { guard: 'is inside', target: 'returned' }, on: { resume: goOn, ...early } },
      returned: { type: 'final' },
    },
  }
}
