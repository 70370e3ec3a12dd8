/** Large contents, cut into messages under one subject per hash. */
import { randomUUID } from 'node:crypto'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Blobs } from '../../contracts/transport.ts'
import { blobNotFound, checkHash, hashOf } from '../blob-hash.ts'
import { blobBytesMax, checkBytes } from '../limits.ts'
import { fromNats } from './errors.ts'
import { type Link, payloadMax, type Stored } from './link.ts'
import type { Names } from './names.ts'

/** Pieces of one `put`: two writers of one content do not mix, and the pieces of a dead writer never pass for the whole. */
const uploadHeader = 'Statecast-Upload'
const lastHeader = 'Statecast-Last'
const pieceBytes = 512 * 1024
const piecesAtOnce = 16

export const natsBlobs = (link: Link, names: Names): Blobs => {
  const stream = names.streams.blobs
  const pieceMax = Math.min(pieceBytes, payloadMax(link.nc) - 1024)

  const isThere = async (subject: string): Promise<boolean> => (await link.last(stream, subject))?.headers.has(lastHeader) ?? false

  const whole = async (subject: string, hash: string): Promise<Uint8Array | undefined> => {
    const uploads = new Map<string, Uint8Array[]>()
    for (let next = 1; ; ) {
      const found: Stored[] = await link.batch(stream, { seq: next, next_by_subj: subject, batch: piecesAtOnce })
      for (const { headers, data, seq } of found) {
        next = seq + 1
        const upload = headers.last(uploadHeader)
        const pieces = uploads.get(upload) ?? []
        uploads.set(upload, pieces)
        pieces.push(data)
        if (!headers.has(lastHeader)) continue
        const bytes = new Uint8Array(Buffer.concat(pieces))
        if (hashOf(bytes) === hash) return bytes
      }
      if (found.length === 0) return undefined
    }
  }

  return {
    async put(bytes) {
      const kept = new Uint8Array(checkBytes(bytes, blobBytesMax, 'blob'))
      const hash = hashOf(kept)
      const subject = names.blob(hash)
      const upload = randomUUID()
      try {
        if (await isThere(subject)) return hash
        for (let at = 0; at === 0 || at < kept.length; at += pieceMax) {
          const last = at + pieceMax >= kept.length
          await link.publish(subject, kept.subarray(at, at + pieceMax), {
            headers: { [uploadHeader]: upload, ...(last ? { [lastHeader]: '1' } : {}) },
          })
        }
        return hash
      } catch (error) {
        throw fromNats(error, 'storing a blob')
      }
    },
    async get(hash) {
      const subject = names.blob(checkHash(hash))
      let bytes: Uint8Array | undefined
      let there = false
      try {
        bytes = await whole(subject, hash)
        there = bytes !== undefined || (await link.last(stream, subject)) !== undefined
      } catch (error) {
        throw fromNats(error, 'reading a blob')
      }
      if (bytes !== undefined) return bytes
      if (!there) throw blobNotFound(hash)
      throw new RuntimeError('corrupt_at', `the blob ${hash} is not whole`, { data: { hash }, hint: 'restore the stream of blobs from a backup' })
    },
    async has(hash) {
      try {
        return await isThere(names.blob(checkHash(hash)))
      } catch (error) {
        throw fromNats(error, 'looking for a blob')
      }
    },
    async delete(hash) {
      const filter = names.blob(checkHash(hash))
      try {
        await link.jsm.streams.purge(stream, { filter })
      } catch (error) {
        throw fromNats(error, 'deleting a blob')
      }
    },
  }
}
