/** A channel that delivers to a test: it remembers everything, and fails when it is told to. */

import type { Channel, SendKind } from '../contracts/channel.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Clock } from '../contracts/environment.ts'
import type { Payload, Route } from '../contracts/reply.ts'

/** One call of `send`. @property at ms since the channel was made */
export type SentMessage = {
  at: number
  kind: SendKind
  key: string
  route: Route
  payload: Payload
  /** What became of it so far. */
  outcome: 'sending' | 'sent' | 'failed' | 'aborted'
}

export type TestChannelOptions = Partial<Omit<Channel, 'send' | 'typing'>> & {
  /** Whether it can show that somebody types; default: yes. */
  typing?: boolean
}

export type TestChannel = Channel & {
  /** Every call of `send`, in order. */
  readonly sends: readonly SentMessage[]
  /** When it was shown that somebody types, in ms since the channel was made. */
  readonly typed: readonly number[]
  /** What arrived: texts, or addresses where there are none. */
  readonly texts: string[]
  /** Lets the nth send from now on fail; 1 is the next one. */
  fail(nth?: number, error?: unknown): void
  /** Lets it take for ever, unless its signal aborts. */
  hang(nth?: number): void
  /** Lets it take `ms`. */
  delay(ms: number, nth?: number): void
}

type Fate = { kind: 'fail'; error: unknown } | { kind: 'hang' } | { kind: 'delay'; ms: number }

/** @param clock by which it tells times and delays */
export const testChannel = (clock: Clock, { typing = true, ...options }: TestChannelOptions = {}): TestChannel => {
  const made = clock.now()
  const sends: SentMessage[] = []
  const typed: number[] = []
  const fates = new Map<number, Fate>()
  const decide = (fate: Fate, nth: number) => void fates.set(sends.length + nth, fate)

  const settle = async (message: SentMessage, fate: Fate | undefined, signal: AbortSignal): Promise<void> => {
    if (fate?.kind === 'fail') {
      message.outcome = 'failed'
      throw fate.error
    }
    if (fate)
      await new Promise<void>((resolve, reject) => {
        const arrive = () => {
          signal.removeEventListener('abort', give)
          resolve()
        }
        const timer = fate.kind === 'delay' ? clock.setTimeout(arrive, fate.ms) : undefined
        const give = () => {
          clock.clearTimeout(timer)
          message.outcome = 'aborted'
          reject(signal.reason as Error)
        }
        if (signal.aborted) give()
        else signal.addEventListener('abort', give, { once: true })
      })
    message.outcome = 'sent'
  }

  return {
    id: 'test',
    markdown: true,
    textMax: 4000,
    ...options,
    ...definedOf({ typing: typing ? () => void typed.push(clock.now() - made) : undefined }),
    async send(payload, { route, kind, key, signal }) {
      const message: SentMessage = { at: clock.now() - made, kind, key, route, payload, outcome: 'sending' }
      sends.push(message)
      const nth = sends.length
      await settle(message, fates.get(nth), signal)
      return `test-${nth}`
    },
    sends,
    typed,
    get texts() {
      return sends.filter(({ outcome }) => outcome === 'sent').map(({ payload: { text, media } }) => text ?? media?.join(' ') ?? '')
    },
    fail: (nth = 1, error = new Error('the channel refused the message')) => decide({ kind: 'fail', error }, nth),
    hang: (nth = 1) => decide({ kind: 'hang' }, nth),
    delay: (ms, nth = 1) => decide({ kind: 'delay', ms }, nth),
  }
}
