/** What is in a folder of the workspace. */
import type { Dir, Dirent } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'
import { hasOtherNames, isHidden, resolveInside, unreachable } from './workspace.ts'

const entriesMax = 500
/** Names that are read to find the first 500 in order; a folder with more is cut at this point. */
const namesMax = 10_000

type Entry = { name: string; kind: 'file' | 'folder'; sizeBytes?: number }

/** `{ path? }` → `{ path, entries: { name, kind, sizeBytes? }[], truncated }`, sorted by name, without hidden names. */
export const listFilesTool = ({ workspace }: { workspace: string }): Tool =>
  tool({
    name: 'list_files',
    description: 'Lists the files and folders in one folder of the workspace (not what is inside those), at most 500.',
    input: z.object({ path: z.string().default('.').describe('relative to the workspace; default: the workspace itself') }),
    execute: async ({ path }) => {
      const place = await resolveInside(workspace, path === '' ? '.' : path)
      const { names, truncated } = await visibleNames(path, place.real)
      const entries: Entry[] = []
      for (const name of names.slice(0, entriesMax)) {
        const entry = await describeEntry(workspace, place.path, name)
        if (entry !== undefined) entries.push(entry)
      }
      return { path: place.path || '.', entries, truncated: truncated || names.length > entriesMax }
    },
    onCrash: 'retry',
  })

const visibleNames = async (path: string, folder: string): Promise<{ names: string[]; truncated: boolean }> => {
  let listing: Dir
  try {
    listing = await opendir(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR')
      throw new RuntimeError('bad_request', `"${path.slice(0, 200)}" is a file, not a folder`, {
        field: 'path',
        cause,
        hint: 'use read_file to read it',
      })
    throw unreachable(path, cause)
  }
  const names: string[] = []
  let truncated = false
  for await (const entry of listing) {
    if (isHidden(entry.name) || !isListable(entry)) continue
    if (names.length === namesMax) {
      truncated = true
      break
    }
    names.push(entry.name)
  }
  return { names: names.sort(), truncated }
}

const isListable = (entry: Dirent): boolean => entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()

/** Undefined for what may not be read (a link that may lead to the outside, a pipe) or has gone meanwhile. */
const describeEntry = async (workspace: string, folder: string, name: string): Promise<Entry | undefined> => {
  try {
    const place = await resolveInside(workspace, join(folder, name))
    const found = await stat(place.real)
    if (found.isDirectory()) return { name, kind: 'folder' }
    return found.isFile() && !hasOtherNames(found) ? { name, kind: 'file', sizeBytes: found.size } : undefined
  } catch {
    return undefined
  }
}
