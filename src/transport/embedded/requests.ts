/** What the main thread asks of the writer thread, and how a batch of it travels: small values cloned, all bytes in one transferred buffer. */
import type { ErrorBody } from '../../contracts/errors.ts'

/** A request that carries bytes has them last. */
export type WriteRequest =
  | [name: 'append', kind: string, id: string, expected: number, wakeAt: number | null, at: number, bytes: Uint8Array]
  | [name: 'fork', kind: string, from: string, to: string, at: number, origin: string, wakeAt: number | null, now: number]
  | [name: 'saveSnapshot', kind: string, id: string, seq: number, bytes: Uint8Array]
  | [name: 'truncate', kind: string, id: string, before: number]
  | [name: 'remove', kind: string, id: string]
  | [name: 'inboxPut', subject: string, id: string, data: Uint8Array]
  | [name: 'inboxDone', row: number, at: number]
  | [name: 'inboxPostpone', row: number, attempts: number, failures: number, readyAt: number]
  | [name: 'inboxBury', row: number, reason: string, at: number]
  | [name: 'inboxForget', before: number]
  | [name: 'registryPut', key: string, value: string, expiresAt: number | null, expected: number | null]
  | [name: 'registryDelete', key: string, expected: number | null]

/** What {@link WriteRequest} is answered with: a number whose meaning belongs to the request, or why it was refused. */
export type WriteResult = number | { error: ErrorBody }

/** The answer to `append` when it was done; any other number is the sequence found instead. */
export const appended = -1
/** The answer to a put or a delete that changed nothing: a duplicate, or somebody else was first. */
export const unchanged = 0

/** Main thread to writer: `groups` is how far the count of group commits has come. */
export type WriteBatch = { requests: unknown[][]; bytes: ArrayBuffer; groups: number }
export type WriterOrder = WriteBatch | 'checkpoint' | { close: number }
/** What became of one group commit. */
export type WriterAnswer = { results: WriteResult[]; groups: number; tookMs: number }
/** Writer to main thread. `results` answer the oldest batch not answered yet, in its order; `lost` and `broken` come before those that failed of it. */
export type WriterMessage =
  | { ready: true }
  | { failed: ErrorBody }
  | { lost: ErrorBody }
  | { broken: ErrorBody }
  | WriterAnswer
  | { checkpointed: boolean }
  | { closed: true }

const carriers: ReadonlySet<unknown> = new Set<WriteRequest[0]>(['append', 'saveSnapshot', 'inboxPut'])

/** Takes the requests over: their byte fields become lengths. The buffer is its own, so that it can be transferred. */
export const packRequests = (requests: WriteRequest[], groups: number): WriteBatch => {
  let sizeBytes = 0
  for (const request of requests) if (carriers.has(request[0])) sizeBytes += (request.at(-1) as Uint8Array).length
  const packed = Buffer.allocUnsafeSlow(sizeBytes)
  let offset = 0
  for (const request of requests as unknown[][]) {
    if (!carriers.has(request[0])) continue
    const bytes = request.at(-1) as Uint8Array
    packed.set(bytes, offset)
    offset += bytes.length
    request[request.length - 1] = bytes.length
  }
  return { requests, bytes: packed.buffer, groups }
}

/** The inverse of {@link packRequests}; the bytes are views into the batch. */
export const unpackRequests = ({ requests, bytes }: WriteBatch): WriteRequest[] => {
  let offset = 0
  for (const request of requests) {
    if (!carriers.has(request[0])) continue
    const length = request.at(-1) as number
    request[request.length - 1] = new Uint8Array(bytes, offset, length)
    offset += length
  }
  return requests as unknown as WriteRequest[]
}
