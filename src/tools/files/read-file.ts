/** Text files of the workspace, so many lines at a time. */

import { Buffer, isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'
import { notText } from './refusals.ts'
import { openInside, type Workspace } from './workspace.ts'

/** Bytes that one call returns at most, and bytes that it looks through for the line to begin with. */
const readBytesMax = 256 * 1024
const scanBytesMax = 256 * 1024 * 1024
const linesMax = 10_000

const input = z.object({
  path: z.string().min(1).describe('relative to the workspace, for example notes/today.md'),
  offset: z.int().min(1).default(1).describe('line to start at, from 1'),
  limit: z.int().min(1).max(linesMax).default(2000).describe('lines to read at most'),
  byte: z.int().min(0).optional().describe('byte to start at instead, as nextByte of an earlier call says'),
})

/**
 * `{ path, offset?, limit?, byte? }` → `{ path, text, line?, lines, sizeBytes, nextOffset? | nextByte? }`. `nextOffset` is the line that comes next;
 * within a line that is too long for one call, and where the call before named a byte, `nextByte` is there instead.
 */
export const readFileTool = ({ workspace }: { workspace: Workspace }): Tool =>
  tool({
    name: 'read_file',
    category: 'files',
    description:
      'Reads a text file of the workspace: 2,000 lines or 256 KiB at a time. When nextOffset (or nextByte) is returned, call again with it as offset (or byte) for the rest.',
    input,
    execute: async ({ path, offset, limit, byte }, { signal }) => {
      const { place, handle, found } = await openInside(workspace, path)
      const sizeBytes = found.size
      try {
        const start = byte ?? (await startOfLine(handle, offset, signal))
        const bytes = start === undefined ? Buffer.alloc(0) : await readPart(handle, start, readBytesMax)
        const goesOn = (start ?? 0) + bytes.length < sizeBytes
        const text = wholeLines(decoded(path, bytes, goesOn), limit, goesOn)
        const lines = countOf(text)
        const end = (start ?? sizeBytes) + Buffer.byteLength(text)
        const isOver = end >= sizeBytes || text === ''
        const endsLine = text.endsWith('\n')
        return {
          path: place.path,
          text,
          ...(byte === undefined ? { line: offset } : {}),
          lines,
          sizeBytes,
          ...(isOver ? {} : byte === undefined && endsLine ? { nextOffset: offset + lines } : { nextByte: end }),
        }
      } finally {
        await handle.close()
      }
    },
    onCrash: 'retry',
    // Escaped as JSON a control character takes six bytes.
    outputBytesMax: 6 * readBytesMax + 16 * 1024,
  })

/** The byte at which a line begins; undefined where there are fewer. */
const startOfLine = async (handle: FileHandle, line: number, signal: AbortSignal): Promise<number | undefined> => {
  let left = line - 1
  if (left === 0) return 0
  const chunk = Buffer.alloc(64 * 1024)
  for (let start = 0; start < scanBytesMax; ) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, start)
    if (bytesRead === 0) return undefined
    const part = chunk.subarray(0, bytesRead)
    for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) if (--left === 0) return start + at + 1
    start += bytesRead
  }
  throw new RuntimeError('too_large', `line ${line} is further than ${scanBytesMax / 1024 ** 2} MiB into the file`, {
    field: 'offset',
    hint: 'give the byte to start at, or search the file',
  })
}

/** At most so many bytes from a place on. */
const readPart = async (handle: FileHandle, start: number, bytesMax: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(bytesMax)
  let length = 0
  while (length < bytesMax) {
    const { bytesRead } = await handle.read(buffer, length, bytesMax - length, start + length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

/** A part may end inside a character; those bytes are left for the next part. */
const decoded = (path: string, bytes: Buffer, goesOn: boolean): string => {
  for (let cut = 0; cut <= (goesOn ? 3 : 0); cut++) {
    const part = bytes.subarray(0, bytes.length - cut)
    if (isUtf8(part) && !part.includes(0)) return part.toString('utf8')
  }
  throw notText(path)
}

/** So many lines of a text; one that is cut off at its end is left out, unless there is no other. */
const wholeLines = (text: string, limit: number, goesOn: boolean): string => {
  let end = 0
  for (let count = 0; count < limit; count++) {
    const next = text.indexOf('\n', end)
    if (next < 0) return goesOn && end > 0 ? text.slice(0, end) : text
    end = next + 1
  }
  return text.slice(0, end)
}

const countOf = (text: string): number => text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0)
