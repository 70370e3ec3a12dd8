/** What the machines of a session rely on in what models and tools answer: whoever says that they had answered otherwise keeps to it. */
import { z } from 'zod'
import type { AnyEvent } from '../../contracts/journal.ts'
import { Usage } from '../../contracts/message.ts'
import { isRecord } from '../../contracts/record.rules.ts'

const Call = z.looseObject({
  id: z.string(),
  callId: z.string(),
  name: z.string(),
  input: z.unknown(),
  inputHash: z.string(),
  needsApproval: z.boolean(),
  onCrash: z.enum(['retry', 'idempotent', 'once']),
  timeoutMs: z.number().positive(),
  attemptMax: z.number().int().positive(),
})
/** Of a model, a tool, and the hooks before one: by their `kind`. Of the rest each field keeps its type. */
const results: Readonly<Record<string, z.ZodType>> = {
  model: z.looseObject({
    id: z.string(),
    text: z.string(),
    reasoning: z.string(),
    calls: z.array(Call),
    usage: Usage,
    model: z.string(),
    partial: z.boolean(),
  }),
  tool: z.looseObject({ id: z.string(), callId: z.string(), name: z.string(), output: z.unknown() }),
  gate: z.looseObject({ runId: z.string(), callId: z.string(), name: z.string(), verdict: z.looseObject({ kind: z.enum(['block', 'pass']) }) }),
}

type Problem = { field: string; message: string }

export const checkChangedResult = ({ data: recorded }: AnyEvent, { data: changed }: AnyEvent): Problem | undefined => {
  if (!isRecord(recorded)) return undefined
  if (!isRecord(changed)) return { field: 'data', message: 'it answers with an object' }
  if (changed.kind !== recorded.kind) return { field: 'data.kind', message: `it stays '${String(recorded.kind)}'` }
  const schema = typeof recorded.kind === 'string' ? results[recorded.kind] : undefined
  const issue = schema?.safeParse(changed).error?.issues[0]
  if (issue) return { field: ['data', ...issue.path].join('.'), message: issue.message }
  const other = Object.keys(recorded).find(
    (name) => name !== 'output' && changed[name] !== undefined && typeOf(changed[name]) !== typeOf(recorded[name]),
  )
  return other === undefined ? undefined : { field: `data.${other}`, message: `it was ${typeOf(recorded[other])}` }
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)
