/** The chain through one root's frames: each checksum is a CRC-32 of the frame's bytes that starts from the checksum before. */
import { crc32 } from 'node:zlib'
import { RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'

/** Where a chain starts. It holds the address, so a frame of one root never passes for another root's. */
export const chainStart = ({ kind, id }: Address): number => crc32(`${kind}/${id}`)

export const chained = (bytes: Uint8Array, previous: number): number => crc32(bytes, previous)

/** @param seq the first frame that cannot be trusted; `data` of the error carries it */
export const corruptAt = ({ kind, id }: Address, seq: number, reason: string): RuntimeError =>
  new RuntimeError('corrupt_at', `the journal of ${kind}/${id} is damaged at frame ${seq}: ${reason}`, {
    hint: 'restore this data folder from a backup, or fork the actor from the frame before; other actors are not affected',
    data: { seq, kind, id },
  })
