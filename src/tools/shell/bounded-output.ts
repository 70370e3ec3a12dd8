/** What a program writes, bounded: its beginning and its end, with the number of bytes between them that nobody kept. */
import { Buffer } from 'node:buffer'

type BoundedOutput = { add(chunk: Buffer): void; text(): string; truncated: () => boolean }

/** @param bytesMax bytes that are kept, half of them from the end */
export const boundedOutput = (bytesMax: number): BoundedOutput => {
  const half = Math.floor(bytesMax / 2)
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let lost = 0
  return {
    add: (chunk) => {
      const room = Math.min(half - headBytes, chunk.length)
      // A copy: a part would keep the whole chunk in memory.
      if (room > 0) head.push(Buffer.from(chunk.subarray(0, room)))
      headBytes += room
      if (room === chunk.length) return
      tail.push(Buffer.from(chunk.subarray(room)))
      tailBytes += chunk.length - room
      if (tailBytes < half + 65_536 && tail.length < 1000) return
      const joined = Buffer.concat(tail)
      const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - half)))
      lost += joined.length - kept.length
      tail = [kept]
      tailBytes = kept.length
    },
    truncated: () => lost + Math.max(0, tailBytes - half) > 0,
    text: () => {
      const end = Buffer.concat(tail)
      const over = Math.max(0, end.length - half)
      const left = lost + over
      if (left === 0) return clean(Buffer.concat([...head, end]))
      return `${clean(Buffer.concat(head))}\n… (${left} bytes left out) …\n${clean(end.subarray(over))}`
    },
  }
}

const clean = (bytes: Buffer): string => bytes.toString('utf8').toWellFormed()
