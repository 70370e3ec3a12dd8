/** Notices that skills come, change or go. What their manuals name is read when it is wanted, and not watched. */
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { messageOf } from '../../contracts/errors.ts'
import { namesOf } from './inside.ts'

const debounceMs = 250
const watchedMax = 520

/** @param changed called when nothing has happened for 250 ms since something did */
export const watchFolders = (folders: readonly string[], changed: () => void, { clock, log }: { clock: Clock; log: Logger }) => {
  const watchers = new Map<string, FSWatcher>()
  let timer: unknown
  let stopped = false
  let complained = false

  const notice = (): void => {
    if (stopped) return
    if (timer !== undefined) clock.clearTimeout(timer)
    timer = clock.setTimeout(() => {
      timer = undefined
      changed()
      attach()
    }, debounceMs)
  }
  const look = (path: string, only?: string): void => {
    if (watchers.has(path) || watchers.size >= watchedMax) return
    try {
      const watcher = watch(path, { persistent: false }, (_, name) => {
        if (only === undefined || name === null || name === only) notice()
      })
      watcher.on('error', () => {
        watcher.close()
        watchers.delete(path)
        notice()
      })
      watchers.set(path, watcher)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || complained) return
      complained = true
      log.warn(
        { path, error: messageOf(error) },
        'changes of skills are not noticed: raise the number of files that may be watched, or start anew after a change',
      )
    }
  }
  /** A folder that is not there yet is waited for by the one above it. One that went has to be watched anew where it comes again. */
  const attach = (): void => {
    for (const folder of folders) {
      look(dirname(folder), basename(folder))
      const wanted = new Set(
        existsSync(folder) ? [folder, ...namesOf(folder).flatMap((one) => (one.isDirectory() ? [join(folder, one.name)] : []))] : [],
      )
      for (const [path, watcher] of watchers)
        if ((path === folder || dirname(path) === folder) && !wanted.has(path)) {
          watcher.close()
          watchers.delete(path)
        }
      for (const path of wanted) look(path)
    }
  }
  attach()
  return {
    stop(): void {
      stopped = true
      if (timer !== undefined) clock.clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}
