/** What a command adds to file systems: free space is looked at all the time, files only once much of it is gone. */
import { readdirSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { lstat, opendir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { LimitName } from './limits.rules.ts'

/** A folder that may grow by so many bytes. */
type Place = { folder: string; limit: LimitName; bytes: number }

/** Free bytes where a folder lies; undefined where it is not there. */
const measureFree = async (folder: string): Promise<number | undefined> => {
  const found = await statfs(folder).catch(() => undefined)
  return found && found.bavail * found.bsize
}

const blockBytes = 512
/** Entries and ms for one look at files. */
const entriesMax = 500_000
const walkMs = 5_000

/**
 * Bytes on the disk of files that changed since.
 * @returns undefined where there are too many files to look at
 */
const changedBytes = async (folder: string, since: number, enough: number): Promise<number | undefined> => {
  const begun = performance.now()
  let bytes = 0
  let entries = 0
  const waiting = [folder]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const open = await opendir(path).catch(() => undefined)
    if (open === undefined) continue
    for await (const entry of open) {
      const below = join(path, entry.name)
      if (++entries > entriesMax || performance.now() - begun > walkMs) return undefined
      if (entry.isDirectory()) waiting.push(below)
      else if (entry.isFile()) bytes += sizeSince(await lstat(below).catch(() => undefined), since)
      if (bytes > enough) return bytes
    }
  }
  return bytes
}

const sizeSince = (found: Stats | undefined, since: number): number => (found?.isFile() && found.ctimeMs >= since ? found.blocks * blockBytes : 0)

/** Bytes of files below a folder that have no name any more and that these processes hold open. */
const unlinkedBytes = (folder: string, pids: readonly number[]): number => {
  const sizes = new Map<string, number>()
  for (const pid of pids)
    for (const path of openFilesOf(pid)) {
      const found = linkOf(path).startsWith(`${folder}/`) ? statSync(path, { throwIfNoEntry: false }) : undefined
      if (found?.isFile() && found.nlink === 0) sizes.set(`${found.dev}:${found.ino}`, found.blocks * blockBytes)
    }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

const openFilesOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`)
  } catch {
    return []
  }
}

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** ms by which clocks of file systems lag behind. */
const lagMs = 1_000

/**
 * Begins to watch.
 * @param keepFree bytes that stay free where the first place lies; at most half of what is free at the start
 * @returns a look that tells which limit was passed
 */
export const watchGrowth = async (
  places: readonly Place[],
  keepFree: number,
  now: number,
  freeOf = measureFree,
): Promise<(pids: () => readonly number[]) => Promise<LimitName | undefined>> => {
  const since = now - lagMs
  const found = await Promise.all(places.map(async (place) => ({ ...place, freeBytes: await freeOf(place.folder), isCounting: false })))
  const watched = found.flatMap((place) => (place.freeBytes === undefined ? [] : [{ ...place, freeBytes: place.freeBytes }]))
  const [first] = watched
  const floor = first && first.limit === 'workspaceBytes' ? Math.min(keepFree, first.freeBytes / 2) : 0
  let passed: LimitName | undefined
  const count = async (place: (typeof watched)[number], free: number, pids: () => readonly number[]): Promise<void> => {
    const changed = await changedBytes(place.folder, since, place.bytes)
    // In a workspace too large to look at, all that is lost counts.
    const isLost = changed === undefined && place === first
    if (isLost || (changed ?? 0) + unlinkedBytes(place.folder, pids()) > place.bytes) passed ??= place.limit
    // Another program wrote it: look again after a quarter more.
    else place.freeBytes = free + place.bytes * 0.75
  }
  return async (pids) => {
    for (const place of watched) {
      const free = await freeOf(place.folder)
      if (free === undefined) continue
      if (place === first && free < floor) return 'freeBytes'
      if (place.isCounting || place.freeBytes - free <= place.bytes) continue
      place.isCounting = true
      // Beside the next looks: it may take seconds.
      void count(place, free, pids).finally(() => {
        place.isCounting = false
      })
    }
    return passed
  }
}
