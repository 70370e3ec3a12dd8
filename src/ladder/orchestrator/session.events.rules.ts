/** What a session reads from its events. Pure. */
import type { EventObject } from 'xstate'
import type { LadderErrorBody } from '../errors.ts'
import type { Ended, SessionRequest } from './session.context.ts'

type Done = EventObject & { output?: unknown; error?: unknown }
export type Cancel = EventObject & { request?: string; reason?: string }

export const thrownIn = (event: EventObject): unknown => (event as Done).error
export const outputOf = <Value>(event: EventObject): Value => (event as Done).output as Value
export const endedOf = <Value>(event: EventObject): Ended<Value> => outputOf<Ended<Value>>(event)
export const madeOf = <Value>(event: EventObject): Value => (endedOf<Value>(event) as { value: Value }).value
export const requestIn = (event: EventObject): SessionRequest => (event as unknown as { request: SessionRequest }).request
export const errorOf = (event: EventObject): LadderErrorBody | undefined => {
  const ended = endedOf<unknown>(event) as Ended<unknown> | undefined
  return ended?.ended === 'failed' ? ended.error : undefined
}
