/** Traces that were exported, as files of a folder: what CI folds. */

import { type Dirent, readdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withoutMark } from '../contracts/byte-order-mark.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import { journalOfFile, parseTraceFile } from './trace-file.ts'

/** A recorded session; opened when its turn comes. `name` is its address, or its file. */
export type Recorded = { name: string; file?: string; open(): { address: Address; journal: Journal } }

/**
 * Exported traces: a file, or all files of a folder and of those in it, links among them, in the order of their names.
 * @param from where a relative path starts; default: the working directory of the process
 * @throws RuntimeError bad_request
 */
export const recordedIn = (path: string, from: string = process.cwd()): Recorded[] => {
  const files = filesOf(path, from)
  if (files.length > 0) return files.map((file) => ({ name: file, file, open: () => opened(file, from) }))
  throw new RuntimeError('bad_request', `there is no trace in ${path}`, { field: 'traces', hint: exportHint })
}

const exportHint = 'write some with `statecast export KEY > FILE`, or with --redact where others see them'

const filesOf = (path: string, from: string): string[] => {
  try {
    return statSync(resolve(from, path)).isDirectory() ? filesBelow(path, from).sort() : [path]
  } catch (cause) {
    throw new RuntimeError('bad_request', `${path} cannot be read`, { cause, field: 'traces', hint: `name a folder of traces: ${exportHint}` })
  }
}

/** Links are followed, and each folder is read once: a link may lead back to where it stands. */
const filesBelow = (top: string, from: string): string[] => {
  const files: string[] = []
  const seen = new Set<string>()
  const folders = [top]
  // Behind all that really stands there, so that it goes by its own name.
  const linked: string[] = []
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop() ?? linked.shift()) {
    const real = realpathSync(resolve(from, folder))
    if (seen.has(real)) continue
    seen.add(real)
    for (const entry of readdirSync(resolve(from, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const kind = kindOf(entry, resolve(from, path))
      if (kind === 'folder') (entry.isSymbolicLink() ? linked : folders).push(path)
      else if (kind === 'file' && !entry.name.startsWith('.') && !entry.name.endsWith('.md')) files.push(path)
    }
  }
  return files
}

const kindOf = (entry: Dirent, path: string): 'folder' | 'file' | 'other' => {
  const found = entry.isSymbolicLink() ? behind(path) : entry
  if (found === undefined || found.isFile()) return 'file'
  return found.isDirectory() ? 'folder' : 'other'
}

/** A link that leads nowhere counts as a file, which cannot be read: whoever made it is told. */
const behind = (link: string): Stats | undefined => {
  try {
    return statSync(link)
  } catch {
    return undefined
  }
}

const opened = (file: string, from: string): ReturnType<Recorded['open']> => {
  const trace = parseTraceFile(readText(file, from), file)
  return { address: trace.address, journal: journalOfFile(trace) }
}

const readText = (file: string, from: string): string => {
  try {
    return withoutMark(readFileSync(resolve(from, file), 'utf8'))
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be read`, { cause, field: 'traces', hint: exportHint })
  }
}
