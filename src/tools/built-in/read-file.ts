/** Text files of the workspace, a part at a time. */

import { Buffer, isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'
import { openInside } from './workspace.ts'

/** Bytes that one call reads at most. */
const readBytesMax = 256 * 1024

/** `{ path, offset?, limit? }` → `{ path, text, offset, sizeBytes, nextOffset? }`; `nextOffset` is there when the file goes on. */
export const readFileTool = ({ workspace }: { workspace: string }): Tool =>
  tool({
    name: 'read_file',
    description:
      'Reads a text file of the workspace, at most 256 KiB at a time. When nextOffset is returned, call again with it as offset for the rest.',
    input: z.object({
      path: z.string().min(1).describe('relative to the workspace, for example notes/today.md'),
      offset: z.int().min(0).default(0).describe('byte to start at'),
      limit: z.int().min(4).max(readBytesMax).default(readBytesMax).describe('bytes to read at most'),
    }),
    execute: async ({ path, offset, limit }) => {
      const { place, handle, sizeBytes } = await openInside(workspace, path)
      try {
        const bytes = await readPart(handle, offset, limit)
        const text = decode(path, bytes, offset + bytes.length < sizeBytes)
        const nextOffset = offset + Buffer.byteLength(text)
        return {
          path: place.path,
          text,
          offset,
          sizeBytes,
          ...(nextOffset < sizeBytes && text !== '' ? { nextOffset } : {}),
        }
      } finally {
        await handle.close()
      }
    },
    onCrash: 'retry',
    // Escaped as JSON a control character takes six bytes.
    outputBytesMax: 6 * readBytesMax + 16 * 1024,
  })

type Handle = { read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }> }

const readPart = async (handle: Handle, offset: number, limit: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(limit)
  let length = 0
  while (length < limit) {
    const { bytesRead } = await handle.read(buffer, length, limit - length, offset + length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

/** A part may end inside a character; those bytes are left for the next part. */
const decode = (path: string, bytes: Buffer, goesOn: boolean): string => {
  for (let cut = 0; cut <= (goesOn ? 3 : 0); cut++) {
    const part = bytes.subarray(0, bytes.length - cut)
    if (isUtf8(part) && !part.includes(0)) return part.toString('utf8')
  }
  throw new RuntimeError('bad_request', `"${path.slice(0, 200)}" is not a text file in UTF-8, or the offset is inside a character`, {
    field: 'path',
    hint: 'only text can be read; use the nextOffset of an earlier call as offset',
  })
}
