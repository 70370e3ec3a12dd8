/** Messages that could not be processed, with the reason: how they are stored, and read again. */
import type { JsMsg } from '@nats-io/jetstream'
import type { Inbox } from '../../contracts/transport.ts'
import { fromNats } from './errors.ts'
import type { Link } from './link.ts'
import type { Names } from './names.ts'
import type { payloads } from './workarounds/payload.ts'

export const idHeader = 'Statecast-Id'
const subjectHeader = 'Statecast-Subject'
const reasonHeader = 'Statecast-Reason'
const atHeader = 'Statecast-At'

/**
 * The id of a message: a publisher gives it in our header, or in that of NATS. A message without one gets the time and the sequence at which the stream stored it: a
 * stream that was made anew counts from one again, and a new message must not be taken for an old one.
 */
export const idOf = ({ headers, seq, info }: JsMsg): string =>
  headers?.last(idHeader) || headers?.last('Nats-Msg-Id') || `in-${info.timestampNanos}-${seq}`

/** What an id must be to stand in a header. */
const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** @param reason JSON of an error, with the id that the body names as `messageId`; or words @param at ms since the epoch */
export const deadLetterHeaders = (names: Names, message: JsMsg, reason: string, at: number) => {
  const { code, messageId } = factsIn(reason)
  return {
    subject: names.dead(typeof code === 'string' ? code : 'failed'),
    headers: {
      [subjectHeader]: names.publishedAs(message.subject),
      // A header is one line of ASCII.
      [reasonHeader]: encodeURIComponent(reason),
      [idHeader]: typeof messageId === 'string' && plain.test(messageId) ? messageId : idOf(message),
      [atHeader]: String(at),
    },
  }
}

const factsIn = (reason: string): { code?: unknown; messageId?: unknown } => {
  try {
    return (JSON.parse(reason) ?? {}) as { code?: unknown; messageId?: unknown }
  } catch {
    return {}
  }
}

export const deadLettersOf =
  (link: Link, names: Names, content: ReturnType<typeof payloads>): Inbox['deadLetters'] =>
  async ({ limit = 1000 } = {}) => {
    if (limit < 1) return []
    try {
      const { state } = await link.jsm.streams.info(names.streams.dead)
      if (state.messages === 0) return []
      const letters = await link.batch(names.streams.dead, { seq: 1, next_by_subj: names.every('dead'), batch: limit })
      return await Promise.all(
        letters.map(async (letter) => ({
          subject: letter.headers.last(subjectHeader),
          id: letter.headers.last(idHeader),
          data: await content.read(letter),
          reason: decodeURIComponent(letter.headers.last(reasonHeader)),
          at: Number(letter.headers.last(atHeader)),
        })),
      )
    } catch (error) {
      throw fromNats(error, 'reading dead letters')
    }
  }
