/** What may come in from outside. Checked before a machine sees it, so that a bad event costs its sender an error and the machine nothing. */

import type { AnyStateMachine } from 'xstate'
import { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'
import type { AnyEvent } from '../contracts/journal.ts'
import { type Measured, wholeCopy } from './journal/journal-value.ts'
import { nodesIn } from './state-nodes.ts'

const reserved = /^(?:xstate|statecast)\./
/** The one event of XState's own that is for anybody to send: it asks a machine to go to a state that has a `route`. */
const route = 'xstate.route'
const isReserved = (type: string): boolean => type !== route && reserved.test(type)
const typeLengthMax = 200

/** What it needs to know of a registered machine. */
type Accepts = { kind: string; strict?: boolean | undefined; descriptors: readonly string[]; events?: z.ZodType | undefined }

/**
 * An event that the machine does not name passes, unless the registration is strict: as in XState it makes no transition of its own, and `always` is looked at.
 * @returns a copy of the event that nobody else holds, and its size @throws RuntimeError bad_request with the field, too_large
 */
export const checkEvent = (registration: Accepts, event: unknown): Measured<AnyEvent> => {
  const bad = (message: string, field: string | undefined, hint: string) => new RuntimeError('bad_request', message, { hint, field })
  if (event === null || typeof event !== 'object' || Array.isArray(event)) throw bad('an event must be an object', undefined, 'send {"type":"…"}')
  const { type } = event as { type?: unknown }
  if (typeof type !== 'string' || type.length === 0) throw bad('an event must have a type', 'type', 'send {"type":"…"}')
  if (type.length > typeLengthMax) throw bad(`an event type may have ${typeLengthMax} characters`, 'type', 'shorten it')
  if (isReserved(type))
    throw bad(
      `'${type}' is reserved: events of the runtime itself cannot be sent`,
      'type',
      'choose a type that does not begin with xstate. or statecast.',
    )
  if (type === '*') throw bad("'*' is a wildcard and no event", 'type', 'name the event')
  if (registration.strict && !registration.descriptors.some((descriptor) => matches(descriptor, type)))
    throw bad(
      `'${type.slice(0, 80)}' is not an event of machine '${registration.kind}'`,
      'type',
      `it takes: ${registration.descriptors.join(', ') || 'nothing from outside'}`,
    )
  const checked = wholeCopy(event as AnyEvent)
  return registration.events && !vouched.has(event) ? { ...checked, copy: parseEvent(registration, checked.copy) } : checked
}

const vouched = new WeakSet<object>()

/** For an event that this process has put together from parts that were parsed, each by its own schema: that of the kind would only do so again. */
export const vouchFor = <Event extends object>(event: Event): Event => {
  vouched.add(event)
  return event
}

const idLengthMax = 400

/** @throws RuntimeError bad_request for what could not be recognised when it is repeated */
export const checkMessageId = (id: unknown): void => {
  if (id === undefined || (typeof id === 'string' && id.length > 0 && id.length <= idLengthMax && id.isWellFormed())) return
  throw new RuntimeError('bad_request', `${typeof id === 'string' ? 'this' : `a ${typeof id}`} is not a message id`, {
    field: 'id',
    hint: `use 1 to ${idLengthMax} characters`,
  })
}

const parseEvent = (registration: Accepts, event: AnyEvent): AnyEvent => {
  const parsed = (registration.events as z.ZodType).safeParse(event)
  if (parsed.success) return parsed.data as AnyEvent
  const issue = parsed.error.issues[0]
  const field = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]].join('.') : issue?.path.join('.')
  throw new RuntimeError('bad_request', `a ${registration.kind} does not take this event: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`, {
    field: field || undefined,
    hint: 'see docs/reference/messages.md for what each event may hold',
  })
}

/** All events that some state names, also those that it names in order to ignore them, which XState's own list leaves out. */
export const descriptorsOf = (machine: AnyStateMachine): string[] => {
  const named = [...nodesIn(machine.root)].flatMap(({ transitions }) => [...transitions.keys()])
  return [...new Set(named)].filter((descriptor) => descriptor !== '' && !isReserved(descriptor)).sort()
}

const matches = (descriptor: string, type: string): boolean =>
  descriptor === '*' ||
  descriptor === type ||
  (descriptor.endsWith('.*') && (type === descriptor.slice(0, -2) || type.startsWith(descriptor.slice(0, -1))))
