/** The connection with the requests to JetStream that the parts of this backend share. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection, headers as newHeaders } from '@nats-io/transport-node'
import { apiCodeOf, apiCodes } from './errors.ts'

/** ms for one request; after that its outcome is unknown. */
export const requestMs = 5_000

export type Stored = { subject: string; seq: number; headers: MsgHdrs; data: Uint8Array }
export type Published = { seq: number; duplicate: boolean }

export type Link = {
  nc: NatsConnection
  js: JetStreamClient
  jsm: JetStreamManager
  /** Resolves when it is stored. @throws whatever the client throws */
  publish(subject: string, data: Uint8Array, options?: { headers?: Record<string, string>; expected?: number; id?: string }): Promise<Published>
  /** The newest message of a subject, asked of the leader: a replica may be behind. */
  last(stream: string, subject: string): Promise<Stored | undefined>
  /** Messages of one literal subject from a sequence of the stream on. May be behind. */
  batch(stream: string, question: BatchQuestion): Promise<Stored[]>
  /** Waits for what is being published, then for the connection. */
  close(): Promise<void>
}

export type BatchQuestion = { seq: number; next_by_subj: string; batch: number } | { multi_last: string[]; batch: number }

/** Bytes of one message, its headers included. */
export const payloadMax = ({ info }: NatsConnection): number => info?.max_payload ?? 1024 * 1024

/**
 * For every consumer: with the client's defaults one may stand still for 45 s after its server died; so it takes 1.5 s at most.
 */
export const pulling = { expires: 2_000, idle_heartbeat: 500 } as const

export const headersOf = (record: Record<string, string>): MsgHdrs => {
  const made = newHeaders()
  for (const [name, value] of Object.entries(record)) made.set(name, value)
  return made
}

export const openLink = async (nc: NatsConnection): Promise<Link> => {
  const js = jetstream(nc, { timeout: requestMs })
  const jsm = await jetstreamManager(nc, { timeout: requestMs })
  const batches = batchReader(nc)
  const publishing = new Set<Promise<unknown>>()
  const line = lineOf(nc)
  return {
    nc,
    js,
    jsm,
    async publish(subject, data, { headers = {}, expected, id } = {}) {
      await line.up()
      const sent = line.untilCut(
        js.publish(subject, data, {
          timeout: requestMs,
          headers: headersOf(headers),
          ...(id === undefined ? {} : { msgID: id }),
          ...(expected === undefined ? {} : { expect: { lastSubjectSequence: expected } }),
        }),
      )
      publishing.add(sent)
      try {
        const { seq, duplicate } = await sent
        return { seq, duplicate }
      } finally {
        publishing.delete(sent)
      }
    },
    async last(stream, subject) {
      await line.up()
      try {
        const found = await line.untilCut(jsm.streams.getMessage(stream, { last_by_subj: subject }))
        return found === null ? undefined : fromStored(found)
      } catch (error) {
        if (apiCodeOf(error) === apiCodes.noMessageFound) return undefined
        throw error
      }
    },
    async batch(stream, question) {
      await line.up()
      return line.untilCut(batches.ask(stream, question))
    },
    async close() {
      await Promise.allSettled(publishing)
      batches.stop()
      if (!nc.isClosed()) await nc.drain()
    },
  }
}

/**
 * What is asked while the link is down is dropped without a word, and what was asked before it broke is never answered: the client would wait for
 * its timeout in both cases. So whoever asks waits for the link, and whoever waits for an answer is told at once that none will come.
 */
const lineOf = (nc: NatsConnection) => {
  const waiting = new Set<(error: Error) => void>()
  let down: PromiseWithResolvers<void> | undefined
  void (async () => {
    for await (const { type } of nc.status())
      if (type === 'disconnect') {
        down ??= Promise.withResolvers<void>()
        for (const cut of waiting) cut(new errors.ConnectionError('the link to the server broke'))
      } else if (type === 'reconnect') {
        down?.resolve()
        down = undefined
      }
    down?.resolve()
  })()
  return {
    /** @throws ConnectionError when it stays down */
    async up(): Promise<void> {
      if (down === undefined) return
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new errors.ConnectionError('the link to the server is down')), requestMs)
      })
      await Promise.race([down.promise, late]).finally(() => clearTimeout(timer))
    },
    untilCut: <T>(answer: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.add(reject)
        answer.then(resolve, reject).finally(() => waiting.delete(reject))
      }),
  }
}

const fromStored = ({ subject, seq, header, data }: StoredMsg): Stored => ({ subject, seq, headers: header ?? newHeaders(), data })

type Asked = { found: Stored[]; resolve: (found: Stored[]) => void; reject: (error: unknown) => void; timer: NodeJS.Timeout }

/**
 * Direct batch gets over one subscription. The client's own `getBatch` leaves the subscription of each question open for ever
 * (@nats-io/jetstream 3.4), which a node that wakes thousands of sessions cannot afford.
 */
const batchReader = (nc: NatsConnection) => {
  const inbox = createInbox((nc as unknown as { options?: { inboxPrefix?: string } }).options?.inboxPrefix)
  const asked = new Map<string, Asked>()
  let count = 0
  const take = (message: Msg): void => {
    const one = asked.get(message.subject)
    if (one === undefined) return
    const { headers } = message
    const end = (finish: () => void) => {
      clearTimeout(one.timer)
      asked.delete(message.subject)
      finish()
    }
    // 204 ends a batch, 404 says that there is nothing; any other status is an error.
    if (headers !== undefined && headers.code !== 0) {
      if (headers.code === 204 || headers.code === 404) end(() => one.resolve(one.found))
      else end(() => one.reject(new Error(`the server refused a batch: ${headers.code} ${headers.description}`)))
      return
    }
    if (headers === undefined) return
    one.timer.refresh()
    one.found.push({ subject: headers.last('Nats-Subject'), seq: Number(headers.last('Nats-Sequence')), headers, data: message.data })
  }
  const subscription = nc.subscribe(`${inbox}.*`, { callback: (error, message) => (error ? undefined : take(message)) })
  return {
    ask: (stream: string, question: BatchQuestion): Promise<Stored[]> =>
      new Promise((resolve, reject) => {
        const reply = `${inbox}.${++count}`
        const timer = setTimeout(() => {
          asked.delete(reply)
          reject(new Error(`the server gave no batch of ${stream} within ${requestMs} ms`))
        }, requestMs)
        asked.set(reply, { found: [], resolve, reject, timer })
        nc.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(question), { reply })
      }),
    stop: (): void => {
      subscription.unsubscribe()
      for (const { reject, timer } of asked.values()) {
        clearTimeout(timer)
        reject(new Error('the connection was closed'))
      }
      asked.clear()
    },
  }
}
