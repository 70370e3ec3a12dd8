/** The first thing that happens in a fork: what was changed of its origin, together with all that came with it. */
import { fromBase64, toBase64 } from '../../contracts/bytes.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Change, ForkChange } from '../../contracts/fork.ts'
import type { AnyEvent, Input } from '../../contracts/journal.ts'
import { isRecord } from '../../contracts/record.rules.ts'
import type { Address } from '../../contracts/subjects.ts'
import type { Journal } from '../../contracts/transport.ts'
import { checkEvent } from '../event-validation.ts'
import { decode, encode } from '../journal/codec.ts'
import { isPlain } from '../journal/journal-value.ts'
import type { Registration } from '../registration.ts'

/** The change as the fork keeps it: the whole event. @throws RuntimeError bad_request, too_large */
export const changeOf = (registration: Registration, inputs: readonly Input[], { seq, input, event: patch }: ForkChange): Change => {
  const found = inputs[input]
  if (found === undefined || 'timer' in found)
    throw new RuntimeError('bad_request', `commit ${seq} has ${found ? 'a timer as its input' : 'no input'} ${input}`, {
      field: 'change.input',
      hint: `it has ${inputs.length}, counted from 0; only messages and results can be changed`,
    })
  if (!isPlain(found.event) || !isPlain(patch))
    throw new RuntimeError('bad_request', `input ${input} of commit ${seq} cannot be changed: it holds what JSON has not`, { field: 'change.event' })
  const event = merged(found.event, patch) as AnyEvent
  const { type } = found.event
  if (event.type !== type && !(results.has(type) && results.has(event.type)))
    throw new RuntimeError('bad_request', `input ${input} of commit ${seq} is '${type}', and cannot become '${String(event.type).slice(0, 80)}'`, {
      field: 'change.event.type',
      hint: results.has(type) ? `a result stays one: ${[...results].join(' or ')}` : 'leave its type as it is',
    })
  const whole = 'from' in found ? checkResult(registration, found.event, event) : checkEvent(registration, event).copy
  const changed = inputs.map((one, at) => (at === input ? { ...found, event: whole } : one))
  return { seq, input, event: whole, inputs: toBase64(encode(changed)) }
}

/** What an effect would have answered: of the form that its machine relies on, which no schema of events knows. */
const checkResult = ({ checkResult: check, kind }: Registration, recorded: AnyEvent, event: AnyEvent): AnyEvent => {
  const problem = recorded.type === event.type ? check?.(recorded, event) : undefined
  if (problem === undefined) return event
  throw new RuntimeError('bad_request', `no effect of a ${kind} answers this: ${problem.message}`, {
    field: `change.event.${problem.field}`,
    hint: 'see the recorded one with `statecast trace KEY --json`, and keep its form',
  })
}

/** How an effect ends: with a result, or with an error. */
const results: ReadonlySet<unknown> = new Set(['xstate.promise.resolve', 'xstate.promise.reject'])

/** RFC 7396. */
const merged = (target: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch
  const found = new Map(isRecord(target) ? Object.entries(target) : [])
  for (const [name, part] of Object.entries(patch))
    if (part === null) found.delete(name)
    else found.set(name, merged(found.get(name), part))
  return Object.fromEntries(found)
}

/** @returns nothing to do where nothing was changed */
export const inputsAtFork = async (journal: Journal, address: Address): Promise<Input[]> => {
  const change = (await journal.origin(address))?.change
  return change ? (decode(fromBase64(change.inputs)) as Input[]) : []
}
