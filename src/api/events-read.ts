/** What an actor has said, for listeners on a bus that have missed something: in pages, from a place on. */

import { saidAfter } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { OutEvent, Parts } from '../runtime/index.ts'
import { whereToLook, withoutContent } from '../runtime/index.ts'
import { formatPlace, isAfter, type Place, resumeAt } from './place.ts'

/** `next` is what to ask for afterwards, now or when something may have been missed again; `more` whether there is something there already. */
export type EventPage = { events: OutEvent[]; next: string; more: boolean }

/** One answer holds this much, in characters, and one event. Over a bus that nodes share it is one message. */
const answerCharactersMax = 4 * 1024 * 1024
const sharedCharactersMax = 256 * 1024

/** @throws RuntimeError not_found, corrupt_at, drift */
export const readEvents = async (
  { transport, host }: Pick<Parts, 'transport' | 'host'>,
  address: Address,
  { after, limit = 1000 }: { after?: Place | undefined; limit?: number | undefined } = {},
): Promise<EventPage> => {
  const { journal, capabilities } = transport
  const registration = host.registration(address.kind)
  if ((await journal.head(address)) === undefined)
    throw new RuntimeError('not_found', `there is no ${formatAddress(address)}`, { hint: whereToLook({ host }, address.kind) })
  const charactersMax = capabilities.sharedByNodes ? sharedCharactersMax : answerCharactersMax
  const { place: start, restart } = await resumeAt(journal, address, after)
  const { birth } = start
  const since = (await saidAfter(journal, address, registration, start.seq - 1)).flatMap(({ event, path, seq, part }): OutEvent[] => {
    const one: OutEvent = { ...event, path, seq, part, ...definedOf({ birth }) }
    return event.type === 'transcript' || !isAfter(one, start) ? [] : [one]
  })
  const all = restart === undefined ? since : [restart, ...since]
  const events: OutEvent[] = []
  let characters = 0
  for (const event of all) {
    if (events.length >= limit || characters >= charactersMax) break
    const size = JSON.stringify(event).length
    // As it was published: one that fits into no message would keep its reader at this place for ever.
    events.push(capabilities.sharedByNodes && size > 2 * charactersMax ? (withoutContent(event) as OutEvent) : event)
    characters += size
  }
  const last = events.at(-1)
  const reached = last === undefined ? start : { seq: last.seq ?? 0, part: last.part ?? 0, birth }
  return { events, next: formatPlace(reached), more: events.length < all.length }
}
