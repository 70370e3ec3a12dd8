/** Traces that were exported, as files of a folder: what CI folds. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { RuntimeError } from '../contracts/errors.ts'
import type { Address } from '../contracts/subjects.ts'
import type { Journal } from '../contracts/transport.ts'
import { journalOfFile, parseTraceFile } from './trace-file.ts'

/** A recorded session; opened when its turn comes. `name` is its address, or its file. */
export type Recorded = { name: string; file?: string; open(): { address: Address; journal: Journal } }

/** Exported traces: a file, or all files of a folder and of those in it, in the order of their names. @throws RuntimeError bad_request */
export const recordedIn = (path: string): Recorded[] => {
  const files = filesOf(path)
  if (files.length > 0) return files.map((file) => ({ name: file, file, open: () => opened(file) }))
  throw new RuntimeError('bad_request', `there is no trace in ${path}`, { field: 'traces', hint: exportHint })
}

const exportHint = 'write some with `statecast export KEY > FILE`, or with --redact where others see them'

const filesOf = (path: string): string[] => {
  try {
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && !entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
  } catch (cause) {
    throw new RuntimeError('bad_request', `${path} cannot be read`, { cause, field: 'traces', hint: `name a folder of traces: ${exportHint}` })
  }
}

const opened = (file: string): ReturnType<Recorded['open']> => {
  const trace = parseTraceFile(readText(file), file)
  return { address: trace.address, journal: journalOfFile(trace) }
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be read`, { cause, field: 'traces', hint: exportHint })
  }
}
