/** The connection with the requests to JetStream that the parts of this backend share. */

import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import { type Msg, type MsgHdrs, type NatsConnection, headers as newHeaders } from '@nats-io/transport-node'
import { definedOf } from '../../contracts/defined.ts'
import { endConnection } from './end-connection.ts'
import { apiCodeOf, apiCodes } from './errors.ts'
import { type Capacity, capacityOf } from './workarounds/capacity.ts'
import { requesterOn, requestMs } from './workarounds/requester.ts'

/** ms to find out why a request had no answer: its caller has already waited for the answer. */
const probeMs = 1_000

export type Stored = { subject: string; seq: number; headers: MsgHdrs; data: Uint8Array }
type Published = { seq: number; duplicate: boolean }

export type Link = {
  nc: NatsConnection
  js: JetStreamClient
  jsm: JetStreamManager
  capacity: Capacity
  /** Resolves when it is stored. @throws whatever the client throws */
  publish(
    subject: string,
    data: Uint8Array,
    options?: { headers?: Record<string, string>; expected?: number | undefined; id?: string },
  ): Promise<Published>
  /** The newest message of a subject, asked of the leader: a replica may be behind. */
  last(stream: string, subject: string): Promise<Stored | undefined>
  /** The first message of a subject from a sequence of the stream on, asked of the leader. */
  next(stream: string, subject: string, seq: number): Promise<Stored | undefined>
  /** Messages of one literal subject from a sequence of the stream on. May be behind. */
  batch(stream: string, question: BatchQuestion): Promise<Stored[]>
  /** Waits for what is being published, then for the connection. */
  close(): Promise<void>
}

type BatchQuestion = { seq: number; next_by_subj: string; batch: number } | { multi_last: string[]; batch: number }

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

export const openLink = async (connection: NatsConnection): Promise<Link> => {
  const requester = requesterOn(connection)
  const { nc } = requester
  const js = jetstream(nc, { timeout: requestMs })
  const jsm = await jetstreamManager(nc, { timeout: requestMs })
  const publishing = new Set<Promise<unknown>>()
  const capacity = capacityOf(nc, await jetstreamManager(nc, { timeout: probeMs, checkAPI: false }))
  const fromLeader = async (stream: string, which: FromLeader): Promise<Stored | undefined> => {
    try {
      const found = await jsm.streams.getMessage(stream, which)
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
    capacity,
    async publish(subject, data, { headers = {}, expected, id } = {}) {
      const sent = js.publish(subject, data, {
        timeout: requestMs,
        headers: headersOf(headers),
        ...definedOf({ msgID: id, expect: expected === undefined ? undefined : { lastSubjectSequence: expected } }),
      })
      publishing.add(sent)
      try {
        const { stream, seq, duplicate } = await sent
        capacity.took(stream)
        return { seq, duplicate }
      } catch (error) {
        throw await capacity.explain(error, subject)
      } finally {
        publishing.delete(sent)
      }
    },
    last: (stream, subject) => fromLeader(stream, { last_by_subj: subject }),
    next: (stream, subject, seq) => fromLeader(stream, { seq, next_by_subj: subject }),
    async batch(stream, question) {
      // The client's own `getBatch` leaves the subscription of each question open for ever (@nats-io/jetstream 3.4).
      const found = await requester.all(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(question), endsBatch)
      return found.map(({ headers, data }) => ({
        subject: headers!.last('Nats-Subject'),
        seq: Number(headers!.last('Nats-Sequence')),
        headers: headers!,
        data,
      }))
    },
    async close() {
      await Promise.allSettled(publishing)
      requester.stop()
      await endConnection(connection)
    },
  }
}

const fromStored = ({ subject, seq, header, data }: StoredMsg): Stored => ({ subject, seq, headers: header ?? newHeaders(), data })

/** 204 ends a batch, 404 says that there is nothing. @throws Error for any other status */
const endsBatch = ({ headers }: Msg): boolean => {
  const { code, description } = headers ?? { code: 0, description: '' }
  if (code !== 0 && code !== 204 && code !== 404) throw new Error(`the server refused a batch: ${code} ${description}`)
  return code !== 0
}
