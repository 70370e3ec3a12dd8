/** Where a text occurs in the files of the workspace. */
import { Buffer } from 'node:buffer'
import { lstat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { Clock } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { wildcard } from '../../contracts/wildcard.ts'
import { tool } from '../tool.ts'
import { linePattern } from './line-pattern.rules.ts'
import { visibleNames } from './list-files.ts'
import { type Folder, openFolder, openIn, openInside, resolveInside, splitPath, type Workspace } from './workspace.ts'

const matchesMax = 500
const filesMax = 20_000
const fileBytesMax = 4 * 1024 * 1024
const bytesMax = 128 * 1024 * 1024
const timeMs = 10_000
const lineCharsMax = 300
/** Folders within each other. */
const depthMax = 40
/** Bytes that are looked at for a NUL: what has one is no text. */
const headBytes = 8192
/** Characters that are searched before others get their turn. */
const turnChars = 1_000_000

type Match = { path: string; line: number; text: string }
type Why = 'matches' | 'files' | 'bytes' | 'time' | 'depth'
type Search = {
  workspace: Workspace
  fits: (line: string) => number
  wants: (path: string, name: string) => boolean
  limit: number
  signal: AbortSignal
  isOver: () => boolean
}

const input = z.object({
  pattern: z.string().min(1).max(1000).describe('what to find in a line'),
  regex: z.boolean().default(false).describe('whether it is a regular expression; without look-around and back references'),
  path: z.string().default('.').describe('folder or file to search, relative to the workspace'),
  files: z.string().min(1).max(200).optional().describe('only files whose name or path fits, * for anything, for example *.ts'),
  caseSensitive: z.boolean().default(false),
  limit: z.int().min(1).max(matchesMax).default(100).describe('matches at most'),
})

/**
 * `{ pattern, regex?, path?, files?, caseSensitive?, limit? }` → `{ matches: { path, line, text }[], files, skipped, truncated? }`. `files` counts those that were
 * searched, `skipped` those that are too large or no text; `truncated` says which bound was met.
 */
export const searchFilesTool = ({ workspace, clock }: { workspace: Workspace; clock: Pick<Clock, 'now'> }): Tool =>
  tool({
    name: 'search_files',
    category: 'files',
    description:
      'Finds the lines of text files in the workspace that contain a text, or fit a regular expression. Hidden and binary files are left out.',
    input,
    execute: async ({ pattern, regex, path, files, caseSensitive, limit }, { signal }) => {
      const since = clock.now()
      const named = files === undefined ? () => true : wildcard(files)
      const run = new SearchRun({
        workspace,
        fits: regex ? regexFits(pattern, !caseSensitive) : textFits(pattern, caseSensitive),
        wants: (inside, name) => named(name) || named(inside),
        limit,
        signal,
        isOver: () => clock.now() - since > timeMs,
      })
      return run.search(path === '' ? '.' : path)
    },
    onCrash: 'retry',
  })

/** @returns where in the line the match is, or -1 */
const textFits = (text: string, caseSensitive: boolean): ((line: string) => number) => {
  if (caseSensitive) return (line) => line.indexOf(text)
  const lower = text.toLowerCase()
  return (line) => line.toLowerCase().indexOf(lower)
}
const regexFits = (pattern: string, ignoreCase: boolean): ((line: string) => number) => {
  const fits = linePattern(pattern, ignoreCase)
  return (line) => (fits(line) ? 0 : -1)
}

class SearchRun {
  private readonly asked: Search
  private readonly matches: Match[] = []
  private files = 0
  private skipped = 0
  private bytes = 0
  private truncated: Why | undefined

  constructor(asked: Search) {
    this.asked = asked
  }

  async search(path: string): Promise<object> {
    const { workspace } = this.asked
    const place = await resolveInside(workspace, path)
    if ((await lstat(place.real)).isDirectory()) {
      const folder = await openFolder(workspace, path)
      try {
        await this.folder(folder, 0)
      } finally {
        await folder.close()
      }
    } else {
      const { handle } = await openInside(workspace, path)
      await handle.close()
      const { folder: inside, name } = splitPath(place.path)
      const folder = await openFolder(workspace, inside)
      try {
        await this.file(folder, name)
      } finally {
        await folder.close()
      }
    }
    return { matches: this.matches, files: this.files, skipped: this.skipped, ...(this.truncated ? { truncated: this.truncated } : {}) }
  }

  private async folder(folder: Folder, depth: number): Promise<void> {
    const { names, truncated } = await visibleNames(folder, folder.path)
    if (truncated) this.truncated ??= 'files'
    for (const name of names) {
      if (this.isEnough()) return
      const found = await lstat(folder.at(name)).catch(() => undefined)
      const path = folder.path === '' ? name : `${folder.path}/${name}`
      // A link is left out: what it leads to is found under its own name, if it is inside.
      if (found?.isFile()) {
        if (this.asked.wants(path, name)) await this.file(folder, name)
      } else if (found?.isDirectory()) {
        if (depth >= depthMax) this.truncated ??= 'depth'
        else await this.inner(path, depth)
      }
    }
  }

  private async inner(path: string, depth: number): Promise<void> {
    const inner = await openFolder(this.asked.workspace, path).catch(missing)
    if (inner === undefined) return
    try {
      // It was a folder of this name; one that has become a link meanwhile is another one.
      if (inner.path === path) await this.folder(inner, depth + 1)
    } finally {
      await inner.close()
    }
  }

  private isEnough(): boolean {
    this.asked.signal.throwIfAborted()
    if (this.matches.length >= this.asked.limit) this.truncated ??= 'matches'
    else if (this.files + this.skipped >= filesMax) this.truncated ??= 'files'
    else if (this.bytes >= bytesMax) this.truncated ??= 'bytes'
    else if (this.asked.isOver()) this.truncated ??= 'time'
    return this.truncated !== undefined && this.truncated !== 'depth'
  }

  private async file(folder: Folder, name: string): Promise<void> {
    const path = folder.path === '' ? name : `${folder.path}/${name}`
    const opened = await openIn(folder, name, path).catch(missing)
    if (opened === undefined) {
      this.skipped++
      return
    }
    const { handle, found } = opened
    try {
      if (found.size > fileBytesMax) {
        this.skipped++
        return
      }
      // As much as it had, also where it grows meanwhile.
      const buffer = Buffer.alloc(found.size)
      const { bytesRead } = await handle.read(buffer, 0, found.size, 0)
      const bytes = buffer.subarray(0, bytesRead)
      this.bytes += bytes.length
      if (bytes.subarray(0, headBytes).includes(0)) this.skipped++
      else {
        this.files++
        await this.lines(path, bytes.toString('utf8'))
      }
    } finally {
      await handle.close()
    }
  }

  private async lines(path: string, text: string): Promise<void> {
    let searched = 0
    for (let start = 0, line = 1; start <= text.length; line++) {
      const next = text.indexOf('\n', start)
      const end = next < 0 ? text.length : next
      const content = text.slice(start, text[end - 1] === '\r' ? end - 1 : end)
      const at = content === '' && end === text.length ? -1 : this.asked.fits(content)
      if (at >= 0) this.matches.push({ path, line, text: around(content, at) })
      if (this.matches.length >= this.asked.limit) return
      searched += content.length
      if (searched > turnChars) {
        searched = 0
        await setImmediate()
        if (this.isEnough()) return
      }
      start = end + 1
    }
  }
}

/** A long line as far as it is of interest. */
const around = (line: string, at: number): string => {
  if (line.length <= lineCharsMax) return line
  const start = Math.max(0, Math.min(at - 100, line.length - lineCharsMax))
  const part = line.slice(start, start + lineCharsMax)
  return `${start > 0 ? '…' : ''}${part}${start + lineCharsMax < line.length ? '…' : ''}`.toWellFormed()
}

/** What has gone, or may not be read, is left out. */
const missing = (error: unknown): undefined => {
  if (!isRuntimeError(error)) throw error
}
