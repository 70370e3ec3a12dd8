/** From what the model wrote to what the machine may run: everything that is known of a call before it runs. */
import type { z } from 'zod'
import { messageOf } from '../contracts/errors.ts'
import type { ModelToolCall } from '../contracts/model.ts'
import { depthMax } from '../contracts/plain.ts'
import type { PlannedCall, Tool } from '../contracts/tool.ts'
import { hashOf } from './canonical-json.ts'
import { nearest } from './nearest.ts'
import { toolDefaults } from './tool.ts'

/** Characters of JSON that the model may send as one input. */
const inputCharsMax = 1024 * 1024
/** Characters of a refused input that are kept: it goes to the journal, and the model wrote it itself. */
const refusedCharsMax = 4096
const issuesMax = 10

type Checked = { ok: true; json: unknown; parsed: unknown } | { ok: false; message: string }

/**
 * Plans one call. A call that cannot run gets a `problem` that tells the model how to do better.
 *
 * `input` is the JSON as the model wrote it, not what zod made of it: a transform may yield something that no journal can hold, so the
 * schema is applied again when the tool runs.
 */
export const planCall = (tools: ReadonlyMap<string, Tool>, call: ModelToolCall): PlannedCall => {
  const tool = tools.get(call.name)
  if (tool === undefined) return refusedCall(call, toolDefaults, { code: 'tool_unknown', message: unknownTool(call.name, [...tools.keys()]) })
  const checked = checkInput(tool, call.input)
  if (!checked.ok) return refusedCall(call, tool, { code: 'tool_input', message: checked.message })
  return {
    ...frame(call, tool),
    input: checked.json,
    inputHash: hashOf(checked.json),
    needsApproval: needsApproval(tool, checked.parsed),
    ...sentBy(tool, checked.parsed),
  }
}

const frame = (call: ModelToolCall, { onCrash, timeoutMs, attemptMax }: Pick<Tool, 'onCrash' | 'timeoutMs' | 'attemptMax'>) => ({
  callId: call.callId,
  name: call.name,
  onCrash,
  timeoutMs,
  attemptMax,
})

const refusedCall = (
  call: ModelToolCall,
  settings: Pick<Tool, 'onCrash' | 'timeoutMs' | 'attemptMax'>,
  problem: NonNullable<PlannedCall['problem']>,
): PlannedCall => {
  const input = call.input.slice(0, refusedCharsMax)
  return { ...frame(call, settings), input, inputHash: hashOf(input), needsApproval: false, problem }
}

/** "there is no tool …" with the names that were probably meant. */
export const unknownTool = (name: string, known: string[]): string => {
  if (known.length === 0) return `there is no tool "${name.slice(0, 80)}"; no tools are available`
  const near = nearest(name, known)
  const advice = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `available: ${known.slice(0, 20).join(', ')}`
  return `there is no tool "${name.slice(0, 80)}"; ${advice}`
}

/** The JSON text of an input against its schema. Empty text counts as `{}`: providers send that for a tool without arguments. */
const checkInput = (tool: Tool, text: string): Checked => {
  if (text.length > inputCharsMax) return { ok: false, message: `the input has ${text.length} characters; at most ${inputCharsMax} are allowed` }
  let json: unknown
  try {
    json = text.trim() === '' ? {} : JSON.parse(text)
  } catch (thrown) {
    return { ok: false, message: `the input is not valid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}` }
  }
  const hostile = hostileShape(json)
  if (hostile !== undefined) return { ok: false, message: hostile }
  const parsed = parseInput(tool, json)
  return parsed.ok ? { ok: true, json, parsed: parsed.value } : parsed
}

/** Applies the schema of a tool; a schema that throws (a broken refinement) refuses the input instead of ending the turn. */
export const parseInput = (tool: Tool, json: unknown): { ok: true; value: unknown } | { ok: false; message: string } => {
  try {
    const result = tool.input.safeParse(json)
    return result.success ? { ok: true, value: result.data } : { ok: false, message: `the input does not fit: ${describeIssues(result.error)}` }
  } catch (thrown) {
    return { ok: false, message: `the input could not be checked: ${messageOf(thrown)}` }
  }
}

export const describeIssues = (error: z.ZodError): string =>
  error.issues
    .slice(0, issuesMax)
    .map((issue) => `${issue.path.length === 0 ? 'input' : issue.path.map(String).join('.')}: ${issue.message}`)
    .join('; ')

// JSON.parse makes `__proto__` an own property, and the next spread or merge of it in a tool pollutes a prototype.
const hostileShape = (json: unknown): string | undefined => {
  let level: unknown[] = [json]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return `the input is nested more than ${depthMax} levels deep`
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Object.hasOwn(value, '__proto__')) return 'the input has a key "__proto__", which is not allowed'
      for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) next.push(inner)
    }
    level = next
  }
  return undefined
}

// What it sends is of use only to leave it out of the answer: where that cannot be told, it is said twice.
const sentBy = (tool: Tool, input: unknown): Pick<PlannedCall, 'annotations'> => {
  try {
    const sends = tool.sends?.(input)
    return typeof sends?.text === 'string' ? { annotations: { sends } } : {}
  } catch {
    return {}
  }
}

// A rule that throws asks a person: it is the side on which nothing happens unseen.
const needsApproval = (tool: Tool, input: unknown): boolean => {
  if (typeof tool.approval === 'boolean') return tool.approval
  try {
    return tool.approval(input) !== false
  } catch {
    return true
  }
}
