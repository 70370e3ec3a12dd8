/** The connection with the requests to JetStream that the parts of this backend share. */
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager, type MsgRequest, type StoredMsg } from '@nats-io/jetstream'
import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection, headers as newHeaders } from '@nats-io/transport-node'
import type { Clock } from '../../contracts/environment.ts'
import { endConnection } from './end-connection.ts'
import { apiCodeOf, apiCodes } from './errors.ts'
import { type Room, roomOf } from './room.ts'

/** ms for one request; after that its outcome is unknown. */
export const requestMs = 5_000

/** ms to find out why a request had no answer: whoever waits has waited long enough. */
const probeMs = 1_000

export type Stored = { subject: string; seq: number; headers: MsgHdrs; data: Uint8Array }
export type Published = { seq: number; duplicate: boolean }

export type Link = {
  nc: NatsConnection
  js: JetStreamClient
  jsm: JetStreamManager
  room: Room
  /** Resolves when it is stored. @throws whatever the client throws */
  publish(subject: string, data: Uint8Array, options?: { headers?: Record<string, string>; expected?: number; id?: string }): Promise<Published>
  /** The newest message of a subject, asked of the leader: a replica may be behind. */
  last(stream: string, subject: string): Promise<Stored | undefined>
  /** The first message of a subject from a sequence of the stream on, asked of the leader. */
  next(stream: string, subject: string, seq: number): Promise<Stored | undefined>
  /** Messages of one literal subject from a sequence of the stream on. May be behind. */
  batch(stream: string, question: BatchQuestion): Promise<Stored[]>
  /** Waits for what is being published, then for the connection. */
  close(): Promise<void>
}

export type BatchQuestion = { seq: number; next_by_subj: string; batch: number } | { multi_last: string[]; batch: number }

/** The second is missing from the client's types. */
type FromLeader = { last_by_subj: string } | { seq: number; next_by_subj: string }

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

export const openLink = async (nc: NatsConnection, clock: Clock): Promise<Link> => {
  const js = jetstream(nc, { timeout: requestMs })
  const jsm = await jetstreamManager(nc, { timeout: requestMs })
  const batches = batchReader(nc)
  const publishing = new Set<Promise<unknown>>()
  const line = lineOf(nc, clock)
  const room = roomOf(nc, await jetstreamManager(nc, { timeout: probeMs, checkAPI: false }))
  const fromLeader = async (stream: string, which: FromLeader): Promise<Stored | undefined> => {
    await line.up()
    try {
      const found = await line.untilCut(jsm.streams.getMessage(stream, which as MsgRequest))
      return found === null ? undefined : fromStored(found)
    } catch (error) {
      if (apiCodeOf(error) === apiCodes.noMessageFound) return undefined
      throw error
    }
  }
  return {
    nc,
    js,
    jsm,
    room,
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
        const { stream, seq, duplicate } = await sent
        room.took(stream)
        return { seq, duplicate }
      } catch (error) {
        throw await room.explain(error, subject)
      } finally {
        publishing.delete(sent)
      }
    },
    last: (stream, subject) => fromLeader(stream, { last_by_subj: subject }),
    next: (stream, subject, seq) => fromLeader(stream, { seq, next_by_subj: subject }),
    async batch(stream, question) {
      await line.up()
      return line.untilCut(batches.ask(stream, question))
    },
    async close() {
      await Promise.allSettled(publishing)
      batches.stop()
      await endConnection(nc)
    },
  }
}

/**
 * What is asked while the link is down is dropped without a word, and what was asked before it broke is never answered: the client would wait for
 * its timeout in both cases. So whoever asks waits for the link, and whoever waits for an answer is told at once that none will come.
 */
const lineOf = (nc: NatsConnection, clock: Clock) => {
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
      let timer: unknown
      const late = new Promise<never>((_, reject) => {
        timer = clock.setTimeout(() => reject(new errors.ConnectionError('the link to the server is down')), requestMs)
      })
      await Promise.race([down.promise, late]).finally(() => clock.clearTimeout(timer))
    },
    untilCut: <T>(answer: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.add(reject)
        answer.then(resolve, reject).finally(() => waiting.delete(reject))
      }),
  }
}

const fromStored = ({ subject, seq, header, data }: StoredMsg): Stored => ({ subject, seq, headers: header ?? newHeaders(), data })

type Asked = { stream: string; found: Stored[]; resolve: (found: Stored[]) => void; reject: (error: unknown) => void; timer: NodeJS.Timeout }

/**
 * Direct batch gets over one subscription. The client's own `getBatch` leaves the subscription of each question open for ever
 * (@nats-io/jetstream 3.4), which a node that wakes thousands of sessions cannot afford.
 */
const batchReader = (nc: NatsConnection) => {
  const inbox = createInbox((nc as unknown as { options?: { inboxPrefix?: string } }).options?.inboxPrefix)
  const asked = new Map<string, Asked>()
  let count = 0
  const end = (reply: string, finish: (one: Asked) => void): void => {
    const one = asked.get(reply)
    if (one === undefined) return
    clearTimeout(one.timer)
    asked.delete(reply)
    finish(one)
  }
  const late = (reply: string, stream: string): void =>
    end(reply, ({ reject }) => reject(new errors.TimeoutError({ cause: new Error(`no batch of ${stream} within ${requestMs} ms`) })))
  const refuse = (error: unknown, which: (one: Asked) => boolean): void => {
    for (const [reply, one] of asked) if (which(one)) end(reply, ({ reject }) => reject(error))
  }
  const take = ({ subject: reply, headers, data }: Msg): void => {
    const one = asked.get(reply)
    if (one === undefined || headers === undefined) return
    // 204 ends a batch, 404 says that there is nothing; any other status is an error.
    if (headers.code !== 0) {
      const refused = new Error(`the server refused a batch: ${headers.code} ${headers.description}`)
      end(reply, ({ found, resolve, reject }) => (headers.code === 204 || headers.code === 404 ? resolve(found) : reject(refused)))
      return
    }
    one.timer.refresh()
    one.found.push({ subject: headers.last('Nats-Subject'), seq: Number(headers.last('Nats-Sequence')), headers, data })
  }
  const subscription = nc.subscribe(`${inbox}.*`, { callback: (error, message) => (error ? refuse(error, () => true) : take(message)) })
  // A question that may not be asked is answered by nobody.
  void (async () => {
    for await (const status of nc.status())
      if (status.type === 'error' && status.error instanceof errors.PermissionViolationError) {
        const { operation, subject } = status.error
        if (operation === 'publish') refuse(status.error, ({ stream }) => subject === directGet(stream))
      }
  })()
  return {
    ask: (stream: string, question: BatchQuestion): Promise<Stored[]> =>
      new Promise((resolve, reject) => {
        const reply = `${inbox}.${++count}`
        // The server answers in real time, whatever the clock of the environment does; so the client measures its own requests too.
        const timer = setTimeout(() => late(reply, stream), requestMs)
        asked.set(reply, { stream, found: [], resolve, reject, timer })
        nc.publish(directGet(stream), JSON.stringify(question), { reply })
      }),
    stop: (): void => {
      subscription.unsubscribe()
      refuse(new Error('the connection was closed'), () => true)
    },
  }
}

const directGet = (stream: string): string => `$JS.API.DIRECT.GET.${stream}`
