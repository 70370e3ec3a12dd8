/** What a model is told that plans. Pure. */
import { completedIn, type PlannerRun } from './planner.context.ts'

type Told = {
  /** `input`: the JSON Schema of what it takes, where that is known. */
  capabilities: readonly { name: string; description: string; input?: unknown }[]
  /** Steps run one by one. */
  isSequential: boolean
  nodesMax: number
}

/** Characters of what a step came to. */
const outputCharsMax = 2_000

const clipped = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= outputCharsMax ? text : `${text.slice(0, outputCharsMax)}…`.toWellFormed()
}

export const questionFor = ({ capabilities, isSequential, nodesMax }: Told, run: PlannerRun): string => {
  const { input, records, feedback } = run
  const known = capabilities.map(
    ({ name, description, input: schema }) => `- ${name}: ${description}${schema === undefined ? '' : ` Input: ${JSON.stringify(schema)}`}`,
  )
  const done = records.flatMap(({ step, status, output, error }) =>
    status === 'completed'
      ? [`- ${step.id} (${step.capability}): ${clipped(output)}`]
      : status === 'failed'
        ? [`- ${step.id} (${step.capability}) failed: ${clipped(error?.message)}`]
        : [],
  )
  return [
    'Make a plan for the goal below. You do none of it yourself: each step uses one capability.',
    `Capabilities:\n${known.join('\n')}`,
    `${isSequential ? 'Steps are done one after another, in your order.' : 'Steps are done at once, but for those that say in dependsOn what they wait for.'} ` +
      'Each has an id of its own. Where a step needs what another one came to, write { "$from": "id" } or { "$from": "id.key" } in the place of the value. ' +
      `At most ${nodesMax} steps.`,
    ...(done.length === 0 ? [] : [`Done so far:\n${done.join('\n')}`]),
    ...(completedIn(run).length === 0
      ? []
      : ['Steps that were completed are not done again; refer to them by their ids, and plan only what is left.']),
    ...(feedback === undefined ? [] : [`What is to be different:\n${feedback}`]),
    `Goal: ${typeof input === 'string' ? input : JSON.stringify(input)}`,
  ].join('\n\n')
}
