/** From what the model wrote to what the machine may run: everything that is known of a call before it runs. */

import { z } from 'zod'
import { definedOf } from '../contracts/defined.ts'
import type { Logger } from '../contracts/environment.ts'
import { isRuntimeError, messageOf } from '../contracts/errors.ts'
import { longNumber, parseExact } from '../contracts/exact-json.ts'
import { isSendableName, type ModelToolCall } from '../contracts/model.ts'
import { depthMax } from '../contracts/plain.ts'
import type { PlannedCall, Tool } from '../contracts/tool.ts'
import { hashOf } from './canonical-json.ts'
import { asyncHint } from './json-schema.ts'
import { nearest } from './nearest.ts'
import { toolDefaults } from './tool.ts'
import { namelessTool, toolNameOf } from './tool-names.rules.ts'

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
 * @param log is told of a rule of the author that gives no answer, and of a schema for which somebody would have to wait
 */
export const planCall = (tools: ReadonlyMap<string, Tool>, written: ModelToolCall, log?: Logger): PlannedCall => {
  const call = permitted(written, [...tools.keys()])
  const tool = tools.get(call.name)
  if (tool === undefined) return refusedCall(call, toolDefaults, { code: 'tool_unknown', message: unknownTool(written.name, [...tools.keys()]) })
  const checked = checkInput(tool, call.input, log)
  if (!checked.ok) return refusedCall(call, tool, { code: 'tool_input', message: checked.message })
  return {
    ...frame(call, tool),
    input: checked.json,
    inputHash: hashOf(checked.json),
    needsApproval: needsApproval(tool, checked.parsed, log),
    ...sentBy(tool, checked.parsed, log),
  }
}

type Settings = Pick<Tool, 'onCrash' | 'timeoutMs' | 'attemptMax' | 'delegated' | 'mode'>
type NamedCall = ModelToolCall & Pick<PlannedCall, 'originalName'>

/** The call under the name of a tool. A name that is none stays as it is, as long as providers take it back. */
const permitted = (call: ModelToolCall, names: readonly string[]): NamedCall => {
  const name = toolNameOf(call, names) ?? (isSendableName(call.name) ? call.name : namelessTool)
  return name === call.name ? call : { ...call, name, originalName: call.name.slice(0, originalCharsMax) }
}
const originalCharsMax = 200

const frame = (call: NamedCall, { onCrash, timeoutMs, attemptMax, delegated, mode }: Settings) => ({
  callId: call.callId,
  name: call.name,
  ...definedOf({ originalName: call.originalName, delegated, silent: mode === 'silent' || undefined }),
  onCrash,
  timeoutMs,
  attemptMax,
})

const refusedCall = (call: NamedCall, settings: Settings, problem: NonNullable<PlannedCall['problem']>): PlannedCall => {
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
const checkInput = (tool: Tool, text: string, log?: Logger): Checked => {
  if (text.length > inputCharsMax) return { ok: false, message: `the input has ${text.length} characters; at most ${inputCharsMax} are allowed` }
  let json: unknown
  try {
    json = text.trim() === '' ? {} : longNumber.test(text) ? parseExact(text, 'input') : JSON.parse(text)
  } catch (thrown) {
    if (isRuntimeError(thrown)) return { ok: false, message: `${thrown.message}: ${thrown.hint}` }
    return { ok: false, message: `the input is not valid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}` }
  }
  const hostile = hostileShape(json)
  if (hostile !== undefined) return { ok: false, message: hostile }
  const parsed = parseInput(tool, json, log)
  return parsed.ok ? { ok: true, json, parsed: parsed.value } : parsed
}

/** Applies the schema of a tool; a schema that throws (a broken refinement) refuses the input instead of ending the turn. */
export const parseInput = (tool: Tool, json: unknown, log?: Logger): { ok: true; value: unknown } | { ok: false; message: string } => {
  try {
    // As safeParse does it, which drops the promise of an asynchronous check: one that rejects would end the process.
    const context = { async: true }
    const result = tool.input._zod.run({ value: json, issues: [] }, context)
    if (result instanceof Promise) {
      result.catch(() => undefined)
      log?.error({ tool: tool.name, rule: 'input', hint: asyncHint }, `the input of the tool "${tool.name}" checks asynchronously, and is refused`)
      return { ok: false, message: 'the input could not be checked: the schema of this tool checks asynchronously, for which nobody waits' }
    }
    const issues = result.issues.map((issue) => z.core.util.finalizeIssue(issue, context, z.core.config()))
    return issues.length === 0 ? { ok: true, value: result.value } : { ok: false, message: `the input does not fit: ${describeIssues({ issues })}` }
  } catch (thrown) {
    return { ok: false, message: `the input could not be checked: ${messageOf(thrown)}` }
  }
}

export const describeIssues = ({ issues }: Pick<z.ZodError, 'issues'>): string =>
  issues
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
const sentBy = (tool: Tool, input: unknown, log: Logger | undefined): Pick<PlannedCall, 'annotations'> => {
  const sends = tool.sends && answerOf(tool, 'sends', () => tool.sends?.(input), log)
  return typeof sends?.text === 'string' ? { annotations: { sends } } : {}
}

// A rule that gives no answer asks a person: it is the side on which nothing happens unseen.
const needsApproval = (tool: Tool, input: unknown, log: Logger | undefined): boolean => {
  const { approval } = tool
  return typeof approval === 'boolean' ? approval : answerOf(tool, 'approval', () => approval(input), log) !== false
}

/**
 * What a rule of the author says of an input. It stands in the journal with the call, so nobody can wait for a promise here; one that rejects
 * must not end the process either. @returns undefined where the rule gave none, which is logged
 */
const answerOf = <Answer>(tool: Tool, rule: 'approval' | 'sends', ask: () => Answer, log: Logger | undefined): Answer | undefined => {
  const complain = (problem: string, hint: string): undefined => {
    log?.error({ tool: tool.name, rule, hint }, `${rule} of the tool "${tool.name}" ${problem}; ${withoutIt[rule]}`)
  }
  try {
    const answer = ask()
    if (!isThenable(answer)) return answer
    Promise.resolve(answer).catch(() => undefined)
    return complain('is asynchronous, and nobody waits for it', 'decide by the input alone; what has to be looked up first belongs into execute')
  } catch (thrown) {
    return complain(`threw: ${messageOf(thrown)}`, 'let it answer for every input that the schema of the tool allows')
  }
}
const withoutIt = { approval: 'a person is asked', sends: 'the answer may say the same once more' } as const

const isThenable = (value: unknown): boolean => typeof value === 'object' && value !== null && 'then' in value
