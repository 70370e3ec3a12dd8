/** Calls of models and tools, as what stands in a commit and in the tree tells of them. */
import type { ActorAt } from '../../../../src/contracts/inspection.ts'
import type { ActorPath, AnyEvent } from '../../../../src/contracts/journal.ts'
import { isRecord } from '../../../../src/contracts/record.rules.ts'
import { costOf, countOf } from '../../../chat/src/rules/format.rules.ts'
import type { Looked, Row } from '../fold/protocol.ts'
import { lastOf, parentPath } from './lanes.rules.ts'
import { spanWords } from './ruler.rules.ts'

type Told = Record<string, unknown>

const dataOf = (event: AnyEvent): Told | undefined => (isRecord(event.data) ? event.data : undefined)

export type ModelCall = {
  model: string
  facts: [name: string, words: string][]
  text: unknown
  reasoning: unknown
  calls: unknown[]
  error: Told | undefined
  /** What its prompt was made of. */
  prompt: Told | undefined
  /** ms since the epoch when it was asked, to find what was observed of it. */
  at: number | undefined
}

const numberIn = (told: Told, key: string): number | undefined => {
  const value = told[key]
  return typeof value === 'number' ? value : undefined
}
/** The first of them that is a text. */
const wordOf = (...values: unknown[]): string => values.find((value) => typeof value === 'string') ?? ''

const answered = (data: Told): ModelCall => {
  const usage = isRecord(data.usage) ? data.usage : {}
  const facts: ModelCall['facts'] = []
  const took = numberIn(data, 'durationMs')
  if (took !== undefined) facts.push(['took', spanWords(took)])
  const [input, output] = [numberIn(usage, 'inputTokens'), numberIn(usage, 'outputTokens')]
  if (input !== undefined || output !== undefined) facts.push(['in / out', `${countOf(input ?? 0)} / ${countOf(output ?? 0)}`])
  const cached = numberIn(usage, 'cachedInputTokens')
  if (cached) facts.push(['cached', countOf(cached)])
  const cost = numberIn(data, 'costUsd')
  facts.push(['cost', cost === undefined ? 'not known' : costOf(cost)])
  if (typeof data.finish === 'string') facts.push(['ended by', data.finish])
  return {
    model: wordOf(data.model),
    facts,
    text: data.text,
    reasoning: data.reasoning,
    calls: Array.isArray(data.calls) ? data.calls : [],
    error: undefined,
    prompt: isRecord(data.prompt) ? data.prompt : undefined,
    at: numberIn(data, 'at'),
  }
}

/** The call that ended with this commit, or failed in it. */
export const modelCallIn = ({ detail }: Looked): ModelCall | undefined => {
  for (const event of detail.inputs) {
    const data = dataOf(event)
    if (data?.kind === 'model') return answered(data)
    if (data && typeof event.from === 'string' && lastOf(event.from).startsWith('model#') && event.type === 'xstate.promise.reject')
      return { model: '', facts: [], text: undefined, reasoning: undefined, calls: [], error: data, prompt: undefined, at: undefined }
  }
  return undefined
}

export type ToolShown = {
  name: string
  callId: string
  input: unknown
  policy: string
  attempts: { number: number; words: string; at: number; mood: 'run' | 'rest' | 'fail' | 'doubt' }[]
  output: unknown
  error: unknown
}

/** The tool call of the chosen actor. @param path of the tool, or of what carries it out */
export const toolCallAt = (looked: Looked, rows: readonly Row[], path: ActorPath): ToolShown | undefined => {
  const tool = /\/tool-\d+#\d+$/.test(path) ? path : parentPath(path)
  if (tool === undefined || !/\/tool-\d+#\d+$/.test(tool)) return undefined
  const actor = looked.moment.actors.find((one) => one.path === tool) ?? looked.before?.actors.find((one) => one.path === tool)
  const context = contextOf(actor)
  const call = isRecord(context.call) ? context.call : undefined
  const result = looked.detail.inputs.map(dataOf).find((data) => data?.kind === 'tool')
  const attempts = attemptsOf(rows.slice(0, looked.seq), tool)
  if (!call && !result && attempts.length === 0) return undefined
  return {
    name: wordOf(call?.name, result?.name),
    callId: wordOf(call?.callId, result?.callId),
    input: call?.input,
    policy: [call?.onCrash, call?.needsApproval === true ? 'asks' : undefined].filter((word) => typeof word === 'string').join(' · '),
    attempts,
    output: result?.output ?? actor?.output ?? context.output,
    error: actor?.error ?? context.error,
  }
}

const contextOf = (actor: ActorAt | undefined): Told => (isRecord(actor?.context) ? actor.context : {})

const attemptsOf = (rows: readonly Row[], tool: ActorPath): ToolShown['attempts'] => {
  const attempts: ToolShown['attempts'] = []
  for (const { states, at } of rows)
    for (const [path, status] of Object.entries(states)) {
      const [, number] = path.startsWith(`${tool}/execute#`) ? (/#(\d+)$/.exec(path) ?? []) : []
      if (number === undefined) continue
      const known = attempts.find((one) => one.number === Number(number))
      if (!known) attempts.push({ number: Number(number), words: 'at work', at, mood: 'run' })
      if (status === 'active') continue
      const attempt = known ?? attempts.at(-1)
      if (attempt)
        Object.assign(
          attempt,
          status === 'done'
            ? { words: `done after ${spanWords(at - attempt.at)}`, mood: 'rest' }
            : { words: status === 'error' ? 'failed' : 'stopped', mood: status === 'error' ? 'fail' : 'rest' },
        )
    }
  return attempts
}
