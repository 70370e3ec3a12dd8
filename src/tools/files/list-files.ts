/** What is in a folder of the workspace. */
import type { Dir, Dirent } from 'node:fs'
import { lstat, opendir, stat } from 'node:fs/promises'
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'
import { shown, unreachable } from './refusals.ts'
import { type Folder, hasOtherNames, isHidden, openFolder, resolveInside, type Workspace } from './workspace.ts'

const entriesMax = 500
/** Names that are read to find the first 500 in order; a folder with more is cut at this point. */
const namesMax = 10_000

type Entry = { name: string; kind: 'file' | 'folder'; sizeBytes?: number }

const input = z.object({ path: z.string().default('.').describe('relative to the workspace; default: the workspace itself') })

/** `{ path? }` → `{ path, entries: { name, kind, sizeBytes? }[], truncated }`, sorted by name, without hidden names. */
export const listFilesTool = ({ workspace }: { workspace: Workspace }): Tool =>
  tool({
    name: 'list_files',
    category: 'files',
    description: 'Lists the files and folders in one folder of the workspace (not what is inside those), at most 500.',
    input,
    execute: async ({ path: given }) => {
      const path = given === '' ? '.' : given
      const folder = await openListed(workspace, path)
      try {
        const { names, truncated } = await visibleNames(folder, path)
        const entries: Entry[] = []
        for (const name of names.slice(0, entriesMax)) {
          const entry = await describeEntry(workspace, folder, name)
          if (entry !== undefined) entries.push(entry)
        }
        return { path: folder.path || '.', entries, truncated: truncated || names.length > entriesMax }
      } finally {
        await folder.close()
      }
    },
    onCrash: 'retry',
  })

const openListed = async (workspace: Workspace, path: string): Promise<Folder> => {
  const { real } = await resolveInside(workspace, path)
  const found = await stat(real).catch(() => undefined)
  if (found !== undefined && !found.isDirectory())
    throw new RuntimeError('bad_request', `"${shown(path)}" is a file, not a folder`, { field: 'path', hint: 'use read_file to read it' })
  return openFolder(workspace, path)
}

/** The names in a folder that may be shown, sorted. */
export const visibleNames = async (folder: Folder, path: string): Promise<{ names: string[]; truncated: boolean }> => {
  let listing: Dir
  try {
    listing = await opendir(folder.at('.'))
  } catch (cause) {
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
const describeEntry = async (workspace: Workspace, folder: Folder, name: string): Promise<Entry | undefined> => {
  try {
    const itself = await lstat(folder.at(name))
    const found = itself.isSymbolicLink()
      ? await lstat((await resolveInside(workspace, folder.path === '' ? name : `${folder.path}/${name}`)).real)
      : itself
    if (found.isDirectory()) return { name, kind: 'folder' }
    return found.isFile() && !hasOtherNames(found) ? { name, kind: 'file', sizeBytes: found.size } : undefined
  } catch {
    return undefined
  }
}
