/** A part of a file of the workspace, replaced exactly. */
import { Buffer, isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'
import { isDone, type Place, placesOf, replacedAt } from './edit.rules.ts'
import { notText, shown } from './refusals.ts'
import { hashOfBytes, replaceable, replaceFile, withFolderOf } from './replace-file.ts'
import { openIn, type Workspace } from './workspace.ts'

const bytesMax = 8 * 1024 * 1024
const partCharsMax = 500_000

const input = z.object({
  path: z.string().min(1).describe('relative to the workspace'),
  old: z.string().min(1).max(partCharsMax).describe('the text to replace, with enough around it to occur once'),
  new: z.string().max(partCharsMax).describe('what stands there afterwards; empty removes it'),
  all: z.boolean().default(false).describe('replace every occurrence'),
})

/** `{ path, old, new, all? }` → `{ path, replaced, sizeBytes, sha256 }`, with `alreadyDone` where a crash had interrupted this very call after its work. */
export const editFileTool = ({ workspace }: { workspace: Workspace }): Tool =>
  tool({
    name: 'edit_file',
    category: 'files',
    description:
      'Replaces a text in a file of the workspace, exactly as written, white space included. The old text must occur once; with all: true every occurrence is replaced.',
    input,
    execute: ({ path, old, new: wanted, all }, { attempt }) =>
      withFolderOf({ workspace, path }, async (folder, name) => {
        const before = await replaceable(folder, name, path)
        const text = await textOf(folder, name, path)
        const inside = folder.path === '' ? name : `${folder.path}/${name}`
        const edit = attempt > 1 && isDone(text, old, wanted) ? { text, replaced: 0, alreadyDone: true } : edited(path, text, old, wanted, all)
        const bytes = Buffer.from(edit.text, 'utf8')
        if (edit.text !== text) await replaceFile(folder, name, path, bytes, before)
        const { text: _, ...told } = edit
        return { path: inside, ...told, sizeBytes: bytes.length, sha256: hashOfBytes(bytes) }
      }),
    onCrash: 'idempotent',
  })

const textOf = async (...[folder, name, path]: Parameters<typeof openIn>): Promise<string> => {
  const { handle, found } = await openIn(folder, name, path)
  try {
    if (found.size > bytesMax)
      throw new RuntimeError('too_large', `"${shown(path)}" has ${found.size} bytes; at most ${bytesMax} can be edited`, {
        field: 'path',
        hint: 'split the file',
      })
    const bytes = await handle.readFile()
    if (!isUtf8(bytes) || bytes.includes(0)) throw notText(path)
    return bytes.toString('utf8')
  } finally {
    await handle.close()
  }
}

const edited = (path: string, text: string, old: string, wanted: string, all: boolean): { text: string; replaced: number } => {
  const places = placesOf(text, old)
  const [first] = places
  if (first === undefined)
    throw new RuntimeError('not_found', `the text does not occur in "${shown(path)}"`, {
      field: 'old',
      data: { occurrences: 0 },
      hint: 'read the file and copy the text exactly, white space included',
    })
  if (places.length > 1 && !all)
    throw new RuntimeError('conflict', `the text occurs ${places.length} times in "${shown(path)}", in the lines ${linesOf(text, places)}`, {
      field: 'old',
      data: { occurrences: places.length },
      hint: 'give more of what stands around it, or all: true',
    })
  return { text: replacedAt(text, all ? places : [first], wanted), replaced: all ? places.length : 1 }
}

const linesOf = (text: string, places: readonly Place[]): string => {
  const shownLines = places.slice(0, 10).map(({ at }) => text.slice(0, at).split('\n').length)
  return `${shownLines.join(', ')}${places.length > 10 ? ' …' : ''}`
}
