/** A plan: steps over capabilities, with what each waits for. Pure. */
import { z } from 'zod'

export const Plan = z.object({
  steps: z.array(
    z.object({
      id: z.string().describe('names the step: letters, digits, _ and -'),
      capability: z.string().describe('what it uses'),
      input: z.unknown().optional().describe('what that is given; { "$from": "id.path" } stands for what another step came to'),
      dependsOn: z.array(z.string()).optional().describe('ids of steps that have to be completed before'),
      reason: z.string().optional(),
    }),
  ),
})
export type Plan = z.infer<typeof Plan>
export type PlanStep = Plan['steps'][number]

/** What a plan may consist of. `completed`: steps of plans before, which are not run again and may be referred to. */
type Bounds = { capabilities: readonly string[]; completed: readonly string[]; nodesMax: number }

const stepId = /^[A-Za-z0-9][\w-]{0,63}$/

/** Steps whose results it is given, wherever in its input they are named. */
export const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  const from = referenceOf(value)
  if (from !== undefined) return [from.split('.')[0] as string]
  return [...new Set(Object.values(value).flatMap(referencesIn))]
}

const referenceOf = (value: object): string | undefined => {
  const { $from } = value as { $from?: unknown }
  return typeof $from === 'string' && Object.keys(value).length === 1 ? $from : undefined
}

/** What has to be completed before it: what it says, and what it is given the result of. */
export const needsOf = ({ dependsOn = [], input }: PlanStep): readonly string[] => [...new Set([...dependsOn, ...referencesIn(input)])]

/** @returns what is wrong with it, first things first */
export const faultIn = ({ steps }: Plan, { capabilities, completed, nodesMax }: Bounds): string | undefined => {
  if (steps.length > nodesMax) return `it has ${steps.length} steps, and may have ${nodesMax}`
  const ids = new Set<string>()
  for (const { id, capability } of steps) {
    if (!stepId.test(id) || id in Object.prototype) return `'${id.slice(0, 40)}' is no id of a step`
    if (ids.has(id)) return `two steps have the id '${id}'`
    ids.add(id)
    if (!capabilities.includes(capability)) return `the step '${id}' uses '${capability.slice(0, 40)}', which is not there`
  }
  for (const step of steps) {
    const unknown = needsOf(step).find((need) => !ids.has(need) && !completed.includes(need))
    if (unknown !== undefined) return `the step '${step.id}' depends on '${unknown.slice(0, 40)}', which is not there`
  }
  const cycle = cycleIn(steps.filter(({ id }) => !completed.includes(id)))
  return cycle && `its steps wait for each other: ${cycle.join(' → ')}`
}

const cycleIn = (steps: readonly PlanStep[]): readonly string[] | undefined => {
  const needs = new Map(steps.map((step) => [step.id, needsOf(step)]))
  const whole = new Set<string>()
  const through = (id: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id]
    if (whole.has(id)) return undefined
    for (const need of needs.get(id) ?? []) {
      const found = through(need, [...path, id])
      if (found) return found
    }
    whole.add(id)
    return undefined
  }
  for (const { id } of steps) {
    const found = through(id, [])
    if (found) return found
  }
  return undefined
}

/** An input with what other steps came to in the places where they are named. @throws Error naming what is not there */
export const resolved = (value: unknown, outputs: Readonly<Record<string, unknown>>): unknown => {
  if (typeof value !== 'object' || value === null) return value
  const from = referenceOf(value)
  if (from !== undefined) return found(from, outputs)
  if (Array.isArray(value)) return value.map((one) => resolved(one, outputs))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, outputs)]))
}

const found = (path: string, outputs: Readonly<Record<string, unknown>>): unknown => {
  let at: unknown = outputs
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) throw new Error(`there is no '${path}' in what the steps before came to`)
    at = (at as Record<string, unknown>)[key]
  }
  return at
}
