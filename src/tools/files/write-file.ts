/** A whole file of the workspace, new or in the place of an old one. */
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'
import { hashOfBytes, replaceable, replaceFile, withFolderOf } from './replace-file.ts'
import { openIn, type Workspace } from './workspace.ts'

const charsMax = 1_000_000

const input = z.object({
  path: z.string().min(1).describe('relative to the workspace, for example notes/today.md'),
  content: z.string().max(charsMax).describe('all of the file'),
})

/** `{ path, content }` → `{ path, sizeBytes, sha256, created, changed }`. A file that has this content already is not touched. */
export const writeFileTool = ({ workspace }: { workspace: Workspace }): Tool =>
  tool({
    name: 'write_file',
    category: 'files',
    description:
      'Writes a whole text file of the workspace, replacing what is there; missing folders are made. To change a part of a file, use edit_file.',
    input,
    execute: ({ path, content }) =>
      withFolderOf({ workspace, path, make: true }, async (folder, name) => {
        const bytes = Buffer.from(content, 'utf8')
        const before = await replaceable(folder, name, path)
        const sha256 = hashOfBytes(bytes)
        // Also what a crash interrupted after the file was in its place ends here: its content is its idempotency key.
        const isThere = before?.size === bytes.length && (await hashOfFile(folder, name, path)) === sha256
        if (!isThere) await replaceFile(folder, name, path, bytes, before)
        const inside = folder.path === '' ? name : `${folder.path}/${name}`
        return { path: inside, sizeBytes: bytes.length, sha256, created: before === undefined, changed: !isThere }
      }),
    onCrash: 'idempotent',
  })

const hashOfFile = async (...at: Parameters<typeof openIn>): Promise<string> => {
  const { handle } = await openIn(...at)
  try {
    return hashOfBytes(await handle.readFile())
  } finally {
    await handle.close()
  }
}
