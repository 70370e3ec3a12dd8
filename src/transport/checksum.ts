/** The chain through one root's frames: each checksum is a CRC-32 of the frame's bytes that starts from the checksum before. */
import { crc32 } from 'node:zlib'
import { RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import { checkedKey } from './address.ts'

/** Where a chain starts. It holds the address, so a frame of one root never passes for another root's. */
export const chainStart = (address: Address): number => crc32(checkedKey(address))

export const chained = (bytes: Uint8Array, previous: number): number => crc32(bytes, previous)

/** For what comes from the disk, where a flipped bit makes another type of a value as well: bytes to text of the same length, or to a number. */
export const fits = (bytes: unknown, previous: unknown, checksum: unknown): bytes is Uint8Array =>
  bytes instanceof Uint8Array && isChecksum(previous) && chained(bytes, previous) === checksum

const isChecksum = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff_ffff

/** @param seq the first frame that cannot be trusted; `data` of the error carries it */
export const corruptAt = ({ kind, id }: Address, seq: number, reason: string): RuntimeError =>
  new RuntimeError('corrupt_at', `the journal of ${kind}/${id} is damaged at frame ${seq}: ${reason}`, {
    hint: `restore this data folder from a backup${
      seq > 1 ? `; what stands before the damage can be read: statecast replay ${kind}/${id} --to ${seq - 1}` : ''
    }; other actors are not affected`,
    data: { seq, kind, id },
  })
