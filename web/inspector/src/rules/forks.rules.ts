/** What a fork is called, and which recorded inputs somebody would change. */
import { isRuntimeError, messageOf } from '../../../../src/contracts/errors.ts'
import { parseExact } from '../../../../src/contracts/exact-json.ts'
import type { ForkChange } from '../../../../src/contracts/fork.ts'
import type { AnyEvent } from '../../../../src/contracts/journal.ts'
import { isRecord } from '../../../../src/contracts/record.rules.ts'
import type { CommitDetail, MarkKind, Row } from '../fold/protocol.ts'
import { lastOf } from './lanes.rules.ts'

/** `key-f1`, or the first that is not taken. */
export const forkKey = (id: string, taken: readonly string[]): string => {
  const stem = id.replace(/-f\d+$/, '')
  for (let number = 1; ; number++) if (!taken.includes(`${stem}-f${number}`)) return `${stem}-f${number}`
}

export type ChangeKind = 'decision' | 'model' | 'tool' | 'message' | 'event' | 'result'
/** `input` counts within its commit, from 0. */
export type Changeable = { seq: number; input: number; kind: ChangeKind; words: string }

const shownMax = 12

/** What came in at or before a moment and a person may want otherwise, the newest first. The first commit makes the actor: nothing can be forked before it. */
export const changeableIn = (rows: readonly Row[], seq: number, ofSession: boolean): Changeable[] => {
  const found: Changeable[] = []
  for (let at = Math.min(seq, rows.length); at >= 2 && found.length < shownMax; at--)
    for (const [input, { actor, kind, event, words }] of (rows[at - 1] as Row).marks.entries()) {
      const what = ofSession ? kindOf(actor, kind, event) : plainKindOf(kind)
      if (what) found.push({ seq: at, input, kind: what, words })
    }
  return found
}

const kindOf = (actor: string, kind: string, event: string): ChangeKind | undefined => {
  if (event === 'approve') return 'decision'
  if (event === 'message') return 'message'
  if (kind !== 'result' && kind !== 'error') return undefined
  if (lastOf(actor).startsWith('model#')) return 'model'
  return lastOf(actor).startsWith('execute#') ? 'tool' : undefined
}

/** Of a machine of an author: nobody knows what its events mean. */
const plainKindOf = (kind: MarkKind): ChangeKind | undefined => (kind === 'message' ? 'event' : kind === 'result' ? 'result' : undefined)

/** What a person sees first in the field: the other decision, the text, the result. */
export const draftOf = ({ kind, input }: Changeable, { inputs }: CommitDetail): string => {
  const event = inputs[input]
  const data = isRecord(event?.data) ? event.data : {}
  if (kind === 'decision') return event?.decision === 'deny' ? 'approve' : 'deny'
  if (kind === 'message') return textOf(event?.text)
  if (kind === 'event') return JSON.stringify(fieldsOf(event), null, 2)
  if (kind === 'result') return JSON.stringify(event?.data ?? null, null, 2)
  if (kind === 'model') return textOf(data.text)
  return typeof data.output === 'string' ? data.output : (JSON.stringify(data.output, null, 2) ?? '')
}
const fieldsOf = ({ type: _, to: __, from: ___, ...fields }: Partial<AnyEvent> = {}): Record<string, unknown> => fields
const textOf = (text: unknown): string => (typeof text === 'string' ? text : '')

/** What would have been different, as a patch of what was recorded: the node has all of it. */
export const changed = ({ seq, input, kind }: Changeable, { inputs }: CommitDetail, draft: string): ForkChange => {
  switch (kind) {
    case 'decision':
      return { seq, input, event: { decision: draft } }
    case 'message':
      return { seq, input, event: { text: draft } }
    case 'event':
      return { seq, input, event: instead(fieldsOf(inputs[input]), parsed(draft)) as ForkChange['event'] }
    case 'result':
      return { seq, input, event: { data: instead(inputs[input]?.data, parsed(draft)) } }
    case 'model':
      // What is written is said instead of all that was answered: what it asked for would come on top of that.
      return { seq, input, event: { data: { text: draft, ...(callsIn(inputs[input]).length > 0 && { calls: [] }) } } }
    case 'tool': {
      const data = inputs[input]?.data
      return { seq, input, event: { data: { output: instead(isRecord(data) ? data.output : undefined, parsed(draft)) } } }
    }
  }
}

/** Names of the tools that a recorded answer asked for; nobody asks for them where the model says something else. */
export const notAsked = ({ kind, input }: Changeable, { inputs }: CommitDetail): string[] =>
  kind === 'model' ? callsIn(inputs[input]).map((call) => (isRecord(call) ? textOf(call.name) : '')) : []
const callsIn = (event: AnyEvent | undefined): unknown[] => (isRecord(event?.data) && Array.isArray(event.data.calls) ? event.data.calls : [])

/** What is wrong with what somebody has written. @returns undefined where it can be taken */
export const draftTrouble = ({ kind }: Changeable, draft: string): string | undefined => {
  if (kind === 'decision' || kind === 'message' || kind === 'model') return undefined
  // What does not look like JSON is a text, which a result may be.
  if (kind !== 'event' && !/^\s*[[{]/.test(draft)) return undefined
  try {
    const holdsFields = isRecord(parseExact(draft, 'text'))
    return kind === 'event' && !holdsFields ? 'An event holds fields: write an object, such as {"amount": 5}.' : undefined
  } catch (error) {
    return `${isRuntimeError(error) ? 'This cannot be kept' : 'This is not JSON'}: ${messageOf(error)}.`
  }
}

/** A patch keeps what it does not name. */
const instead = (before: unknown, after: unknown): unknown =>
  isRecord(before) && isRecord(after) ? { ...Object.fromEntries(Object.keys(before).map((name) => [name, null])), ...after } : after

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
