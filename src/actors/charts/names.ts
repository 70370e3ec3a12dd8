/** How the parts of a machine are called when a person reads them. */
import type { StateValue } from 'xstate'

type Builtin = ((...args: never[]) => unknown) & Record<string, unknown>

/** `recordResult`, or for XState's own actions what they do: `raise(turn.end)`, `send(pause) to model`. */
export const actionName = (action: unknown): string => {
  if (typeof action === 'string') return action
  if (isTyped(action)) return action.type
  if (typeof action !== 'function') return '(inline)'
  const builtin = action as unknown as Builtin
  const delay = builtin.delay === undefined ? '' : ` after ${delayName(builtin.delay)}`
  switch (builtin.type) {
    case 'xstate.raise':
      return `raise(${eventName(builtin.event)})${delay}`
    case 'xstate.sendTo':
      return `send(${eventName(builtin.event)}) to ${plainName(builtin.to)}${delay}`
    case 'xstate.emit':
      return `emit(${eventName(builtin.event)})`
    case 'xstate.cancel':
      return `cancel(${plainName(builtin.sendId)})`
    case 'xstate.spawnChild':
      return `spawn(${plainName(builtin.src)})`
    case 'xstate.stopChild':
      return `stop(${plainName(builtin.actorRef)})`
    case 'xstate.assign':
      return builtin.assignment && typeof builtin.assignment === 'object' ? `assign(${Object.keys(builtin.assignment).join(', ')})` : 'assign'
    default:
      return typeof builtin.type === 'string' ? builtin.type.replace(/^xstate\./, '') : functionName(action)
  }
}

/** `attemptLeft`, `not urgent`, `a and b`, `in paused`. */
export const guardName = (guard: unknown): string => {
  if (typeof guard === 'string') return guard
  if (isTyped(guard)) return guard.type
  if (typeof guard !== 'function') return '(inline)'
  const { guards, stateValue } = guard as unknown as Builtin
  if (stateValue !== undefined) return `in ${stateValueName(stateValue as StateValue)}`
  if (!Array.isArray(guards)) return functionName(guard)
  const parts = guards.map((part) => (guards.length > 1 && typeof part === 'function' && 'guards' in part ? `(${guardName(part)})` : guardName(part)))
  return guard.name === 'not' ? `not ${parts.join()}` : parts.join(` ${guard.name} `)
}

/** `5 s`, `250 ms`, `2 min`, or the name of a delay. */
export const delayName = (delay: unknown): string => {
  if (typeof delay !== 'number') return plainName(delay)
  if (delay >= 60_000 && delay % 60_000 === 0) return `${delay / 60_000} min`
  if (delay >= 1000 && delay % 100 === 0) return `${delay / 1000} s`
  return `${delay} ms`
}

/** `a.b`, with `(a, c)` around what is active at the same time. */
const stateValueName = (value: StateValue): string => {
  if (typeof value === 'string') return value
  const parts = Object.entries(value).map(([key, inner]) => (inner && Object.keys(inner).length > 0 ? `${key}.${stateValueName(inner)}` : key))
  return parts.length === 1 ? parts.join() : `(${parts.join(', ')})`
}

const eventName = (event: unknown): string => (isTyped(event) ? event.type : plainName(event))
const plainName = (value: unknown): string => {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (typeof value === 'object' && value !== null && 'id' in value) return String(value.id)
  return '(computed)'
}

const isTyped = (value: unknown): value is { type: string } =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** A function written in place takes its name from the key it stands under, which says nothing. */
const keys = new Set(['', 'actions', 'entry', 'exit', 'guard'])
const functionName = (value: { name: string }): string => (keys.has(value.name) ? '(inline)' : value.name)
