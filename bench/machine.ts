/** Where figures were taken, and of what: without it they mean nothing. */
import { execFileSync } from 'node:child_process'
import { readFileSync, statfsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..')

const fileSystems: Record<number, string> = {
  61267: 'ext4',
  16914836: 'tmpfs, where syncing costs nothing',
  1481003842: 'xfs',
  2035054128: 'overlayfs',
  2435016766: 'btrfs',
  801189825: 'zfs',
}

/** What the stores of the benchmarks stand on: the folder for temporary files, so `TMPDIR` chooses another disk. */
const disk = (): string => {
  const { type } = statfsSync(tmpdir())
  return fileSystems[type] ?? `a file system of type ${type.toString(16)}`
}

export const machine = (): string =>
  `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}, stores on ${disk()}`

const versionOf = (name: string): string => {
  const file = createRequire(import.meta.url)
    .resolve(name)
    .replace(/(node_modules\/.*?xstate|node_modules\/.*?msgpackr)\/.*/, '$1/package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

export const versions = (): string =>
  `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, xstate ${versionOf('xstate')}, msgpackr ${versionOf('msgpackr')}`

const git = (...words: string[]): string =>
  execFileSync('git', ['-C', repository, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** The commit, and whether the sources differ from it. */
export const commit = (): string => {
  try {
    const changed = git('status', '--porcelain', '--', 'src').trim() !== ''
    return `${git('rev-parse', '--short', 'HEAD').trim()}${changed ? ' with changes' : ''}`
  } catch {
    return 'unknown'
  }
}

/** Processes that wanted a core in the last minute: what is far above 0 before a benchmark begins disturbs it. */
export const load = (): number => loadavg()[0] ?? 0
