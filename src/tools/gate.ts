/** Asks the hooks of an agent about a call, one after another. Whatever goes wrong with one blocks the call. */
import type { Clock } from '../contracts/environment.ts'
import { messageOf, RuntimeError } from '../contracts/errors.ts'
import { redact } from '../contracts/redact.ts'
import type { PlannedCall } from '../contracts/tool.ts'
import type { BeforeTool, GateAnswer, GatedCall, GateVerdict } from '../contracts/tool-gate.ts'

import { longestTimerMs } from './tool.ts'

const timeoutMs = 15_000
const reasonMax = 2000

/** In the order in which they are asked. */
export const byPriority = (hooks: readonly BeforeTool[]): BeforeTool[] => hooks.toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))

export const applies = ({ tools }: BeforeTool, name: string): boolean => tools === undefined || tools.includes(name)

/** @param replan checks a changed input as if the model had written it */
export const askHooks = async (
  hooks: readonly BeforeTool[],
  planned: PlannedCall,
  call: Omit<GatedCall, 'name' | 'input'>,
  { clock, replan }: { clock: Clock; replan: (input: unknown) => PlannedCall },
): Promise<GateVerdict> => {
  let now = planned
  let mustAsk = false
  const changedBy: string[] = []
  for (const hook of hooks.filter((one) => applies(one, planned.name))) {
    const block = (reason: string): GateVerdict => ({ kind: 'block', by: hook.name, reason: redact(reason).slice(0, reasonMax) })
    let answer: GateAnswer
    try {
      answer = checkedAnswer(await inTime(hook, { ...call, name: planned.name, input: structuredClone(now.input) }, clock))
    } catch (thrown) {
      call.log.error({ hook: hook.name, tool: planned.name, error: messageOf(thrown) }, 'a hook before a tool call failed, and the call is blocked')
      return block(`the check "${hook.name}" failed: ${messageOf(thrown)}`)
    }
    if (answer?.block !== undefined) return block(answer.block)
    if (answer?.approval) mustAsk = true
    if (answer?.params === undefined) continue
    const changed = replan({ ...(now.input as object), ...answer.params })
    if (changed.problem) return block(`the check "${hook.name}" changed the input to one that is refused: ${changed.problem.message}`)
    if (changed.inputHash !== now.inputHash) changedBy.push(hook.name)
    now = changed
  }
  const { input, inputHash } = now
  return {
    kind: 'pass',
    needsApproval: mustAsk || now.needsApproval,
    ...(inputHash !== planned.inputHash && { adjusted: { original: planned.input, input, inputHash, by: changedBy } }),
  }
}

const inTime = async (hook: BeforeTool, call: GatedCall, clock: Clock): Promise<unknown> => {
  const ms = hook.timeoutMs ?? timeoutMs
  const stop = new AbortController()
  const over = Promise.withResolvers<never>()
  const end = (reason: string): void => {
    over.reject(new Error(reason))
    stop.abort()
  }
  const cancel = (): void => end('the call was cancelled')
  call.signal.addEventListener('abort', cancel, { once: true })
  const timer = clock.setTimeout(() => end(`it gave no answer within ${ms} ms`), ms)
  try {
    return await Promise.race([(async () => hook.check({ ...call, signal: stop.signal }))(), over.promise])
  } finally {
    clock.clearTimeout(timer)
    call.signal.removeEventListener('abort', cancel)
  }
}

/** What is no answer could be a block that somebody has misspelt. */
const checkedAnswer = (answer: unknown): GateAnswer => {
  if (answer === undefined || answer === null) return undefined
  const { params, block, approval, ...rest } = (typeof answer === 'object' ? answer : { answer }) as Record<string, unknown>
  const isParams = params === undefined || (typeof params === 'object' && params !== null && !Array.isArray(params))
  const [other] = Object.keys(rest)
  if (other !== undefined || !isParams || !['undefined', 'string'].includes(typeof block) || !['undefined', 'boolean'].includes(typeof approval))
    throw new Error(
      `it answered with ${other === undefined ? 'a field of the wrong type' : `'${other.slice(0, 80)}'`}; write { params, block, approval }`,
    )
  return answer
}

/** Hooks as an author writes them, also plain functions. @throws RuntimeError bad_request */
export const checkedHooks = (given: unknown, field: string): BeforeTool[] => {
  const refuse = (at: string, hint: string): RuntimeError =>
    new RuntimeError('bad_request', `${at} is no hook before a tool call`, { field: at, hint })
  if (given === undefined) return []
  if (!Array.isArray(given)) throw refuse(field, 'write a list of functions, or of { name, priority, check }')
  return given.map((one: unknown, index) => {
    const at = `${field}[${index}]`
    if (typeof one === 'function') return { name: one.name || at, check: one as BeforeTool['check'] }
    const {
      name = at,
      priority = 0,
      timeoutMs: ms = timeoutMs,
      tools,
      check,
      ...rest
    } = (typeof one === 'object' && one !== null ? one : {}) as Partial<BeforeTool>
    const [other] = Object.keys(rest)
    if (other !== undefined) throw refuse(`${at}.${other}`, 'a hook has name, priority, timeoutMs, tools and check')
    if (typeof check !== 'function') throw refuse(`${at}.check`, 'write check: (call) => ({ block: "why" })')
    if (typeof name !== 'string' || !Number.isFinite(priority)) throw refuse(at, 'name is a text and priority a number')
    if (!Number.isInteger(ms) || ms < 1 || ms > longestTimerMs) throw refuse(`${at}.timeoutMs`, `write ms, from 1 to ${longestTimerMs}`)
    if (tools !== undefined && !Array.isArray(tools)) throw refuse(`${at}.tools`, 'write a list of names of tools')
    return { name, priority, timeoutMs: ms, check, ...(tools && { tools: [...tools] }) }
  })
}
