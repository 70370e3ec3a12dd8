/**
 * Messages of one subject in the order of the stream, also where the server delivers them in another: messages that a vanished node held, or that got lost with a
 * link, come again only when the server has missed their acknowledgement for a while, and later messages would arrive first.
 *
 * As long as deliveries follow each other without a gap, no message can be missing, and the server is asked nothing. After a gap the stream is read for a while.
 */
import type { JsMsg } from '@nats-io/jetstream'
import { type Environment, type Instant, instantOf, isWithin, pause } from '../../../contracts/environment.ts'
import type { Link } from '../link.ts'

const askAgainMs = 100

type InOrderParts = {
  link: Pick<Link, 'next'>
  stream: string
  environment: Pick<Environment, 'clock' | 'log'>
  /** How long a lost message may take to come again. */
  doubtMs: number
  /** How long a message waits for one before it that does not come. */
  patienceMs: number
  /** Whether we hold the message with this sequence of the stream. */
  isHeld: (seq: number) => boolean
  /** Whether the server will not deliver it again. It may still be in the stream: a server that was killed may forget that it has removed it. */
  isDone: (seq: number) => Promise<boolean>
  offer: (seq: number) => void
}

/** Messages held back, by their sequence in the stream. */
type Early = { seq: number; since: Instant }

export const inOrder = ({ link, stream, environment, doubtMs, patienceMs, isHeld, isDone, offer }: InOrderParts) => {
  const { clock, log } = environment
  const lines = new Map<string, Early[]>()
  let last: number | undefined
  let doubted: Instant | undefined
  let stopped = false

  const doubt = (): void => {
    doubted = instantOf(clock)
  }

  const follow = async (subject: string, line: Early[]): Promise<void> => {
    /** All messages before this sequence have arrived, or are acknowledged. */
    let from = 1
    const isNext = async (seq: number): Promise<boolean> => {
      for (;;) {
        const found = await link.next(stream, subject, from)
        if (found === undefined || found.seq >= seq) return true
        if (!isHeld(found.seq) && !(await isDone(found.seq))) return false
        from = found.seq + 1
      }
    }
    for (let first = line[0]; first !== undefined && !stopped; first = line[0]) {
      const { seq } = first
      const next = await isNext(seq).catch(() => undefined)
      if (stopped) return
      // A server that does not answer delivers nothing either: only the time in which it answers counts.
      if (next === undefined) for (const one of line) one.since = instantOf(clock)
      const patient = isWithin(clock, first.since, patienceMs)
      if (!next && patient) await pause(clock, askAgainMs)
      if (!next && !patient) log.warn({ subject, seq }, 'a message is delivered though one before it did not come again')
      // The missing message may have arrived while the server was asked.
      if (next || !patient) for (const { seq: due } of line.splice(0, 1 + line.findIndex((one) => one.seq === seq))) offer(due)
    }
    lines.delete(subject)
  }

  const holdBack = (subject: string, seq: number, line: Early[] = []): void => {
    const behind = line.findIndex((one) => one.seq > seq)
    line.splice(behind < 0 ? line.length : behind, 0, { seq, since: instantOf(clock) })
    if (lines.has(subject)) return
    lines.set(subject, line)
    void follow(subject, line)
  }

  return {
    /** @param delivered how many messages the consumer had delivered before @param unsettled how many of them are not acknowledged */
    begin(delivered: number, unsettled: number): void {
      last ??= delivered
      if (unsettled > 0) doubt()
    },
    /** @param again whether we hold it already */
    took({ seq, subject, info }: JsMsg, again: boolean): void {
      if (info.deliverySequence !== (last ?? 0) + 1) doubt()
      last = info.deliverySequence
      if (again) return
      const line = lines.get(subject)
      const sure = doubted === undefined || !isWithin(clock, doubted, doubtMs)
      if (line === undefined && sure) offer(seq)
      else holdBack(subject, seq, line)
    },
    /** Stops: messages that are held back are no longer offered. */
    stop(): void {
      stopped = true
    },
  }
}
