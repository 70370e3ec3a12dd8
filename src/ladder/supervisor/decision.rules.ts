/** What was chosen, checked: nobody runs where it names somebody who is not there. Pure. */
import { inShort, LadderError, type LadderErrorBody } from '../errors.ts'
import { type AnySupervisor, type CheckedIntent, END } from './definition.ts'
import type { Decision, DecisionSource } from './supervisor.context.ts'

type Known = { definition: Pick<AnySupervisor, 'name' | 'maxFanOut'>; intents: readonly CheckedIntent[] }

/** @throws LadderError SUPERVISOR_INVALID_ROUTE */
export const decisionOf = ({ definition, intents }: Known, source: DecisionSource, raw: unknown, who: string): Decision => {
  const known = intents.map(({ name }) => name)
  const names: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
  const invalid = (message: string): LadderError =>
    new LadderError('SUPERVISOR_INVALID_ROUTE', message, {
      hint: `choose one of ${known.join(', ')}, several of them, or END`,
      context: { availableKeys: known, raw: printable(raw), source },
    })
  if (names.length === 0) throw invalid(`${who} of '${definition.name}' chose an empty list`)
  if (names.includes(END)) return { source, next: [], raw: printable(raw) }
  const strange = names.find((name) => typeof name !== 'string' || !known.includes(name))
  if (strange !== undefined || names.includes(undefined))
    throw invalid(`${who} of '${definition.name}' chose ${inShort(strange)}, which is not there`)
  const next = [...new Set(names as string[])]
  const { maxFanOut = 10 } = definition
  if (next.length > maxFanOut) throw invalid(`${who} of '${definition.name}' chose ${next.length} at once, and ${maxFanOut} may run`)
  return { source, next, raw: printable(raw) }
}

/** What a model failed with that was to choose. An answer that does not fit names nobody who is there. */
export const refusalOf = ({ definition, intents }: Known, source: DecisionSource, error: LadderErrorBody, who: string): LadderError => {
  if (error.code !== 'SCHEMA_VALIDATION_FAILED') return LadderError.from(error)
  const known = intents.map(({ name }) => name)
  return new LadderError('SUPERVISOR_INVALID_ROUTE', `${who} of '${definition.name}' chose nobody who is there: ${error.message}`, {
    cause: error,
    hint: `give it repair: 1, which asks it again; there are ${known.join(', ')}`,
    context: { ...error.context, availableKeys: known, source },
  })
}

/** As it can stand in a journal. */
const printable = (raw: unknown): unknown => {
  try {
    return raw === undefined ? null : (JSON.parse(JSON.stringify(raw) ?? 'null') as unknown)
  } catch {
    return String(raw)
  }
}
