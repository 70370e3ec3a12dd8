/** The tree that the working tree is compared with: checked out from git, with the packages of its own lock file. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('../..', import.meta.url))
const page = fileURLToPath(new URL('../baseline.md', import.meta.url))

/** @returns the revision in the last row of the table, and its reason @throws Error where there is none */
export const baselineOf = (text: string): { revision: string; why: string } => {
  const [row] = [...text.matchAll(/^\| [\d-]{10} \| ([\da-f]{40}) \| (\S.*) \|$/gm)].slice(-1)
  if (row === undefined)
    throw new Error('bench/baseline.md has no row with a date, a full revision and a reason: `| 2026-11-26 | <40 digits> | why |`')
  return { revision: row[1] as string, why: row[2] as string }
}

export const committedBaseline = () => baselineOf(readFileSync(page, 'utf8'))

type Packages = { packages: Record<string, { version?: string; integrity?: string }> }

/** Whether every package that npm has put there is the one of the lock. @param installed `node_modules/.package-lock.json` */
export const isInstalledFrom = (lock: string, installed: string): boolean => {
  const [wanted, found] = [lock, installed].map((text) => (JSON.parse(text) as Packages).packages) as [Packages['packages'], Packages['packages']]
  const names = Object.keys(found)
  return (
    names.length > 0 &&
    names.every((name) => wanted[name]?.version === found[name]?.version && wanted[name]?.integrity === found[name]?.integrity) &&
    ['zod', 'xstate', 'msgpackr'].every((name) => `node_modules/${name}` in found)
  )
}

const git = (...words: string[]): Buffer => execFileSync('git', ['-C', here, ...words], { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] })

const isCheckout = (): boolean => {
  try {
    return git('rev-parse', '--git-dir').length > 0
  } catch {
    return false
  }
}

/** @throws Error saying how to get the revision into this clone */
const fullRevision = (revision: string): string => {
  try {
    return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`).toString().trim()
  } catch (cause) {
    if (!isCheckout())
      throw new Error('the gate compares with an earlier commit, and this folder is not a Git checkout: clone the repository', { cause })
    const cure = 'a shallow clone gets it with `git fetch --unshallow`, any other with `git fetch origin <revision>`'
    throw new Error(`revision '${revision}' is not in this clone: ${cure}`, { cause })
  }
}

/**
 * Both are kept in the folder for temporary files, so that the next run begins at once. Packages are shared with the working tree where the lock is the
 * same and `node_modules` was installed from it.
 * @returns the folder of the tree
 */
export const checkOut = (revision: string, report: (line: string) => void): string => {
  const full = fullRevision(revision)
  const lock = git('show', `${full}:package-lock.json`).toString()
  const isShared = lock === readFileSync(join(here, 'package-lock.json'), 'utf8') && isInstalledFrom(lock, installedHere())
  // The lock belongs to the revision; whose packages are shared does not.
  const key = createHash('sha256')
    .update(`${process.versions.modules} ${isShared ? here : 'own'}`)
    .digest('hex')
    .slice(0, 12)
  // Not in `node_modules`, where Node strips no types; and not in the folder of one test run.
  const cache = join(process.env.STATECAST_TEST_DISK ?? tmpdir(), `statecast-baseline-${userInfo().uid}`)
  const tree = join(cache, `${full}-${key}`)
  if (isComplete(tree)) return tree
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  removeOld(cache)
  const unfinished = `${tree}.${process.pid}`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished)
  try {
    execFileSync('tar', ['-x', '-C', unfinished], { input: git('archive', full) })
    if (isShared) symlinkSync(join(here, 'node_modules'), join(unfinished, 'node_modules'))
    else {
      report(`installing the packages of ${full.slice(0, 8)}`)
      // Its scripts build pages and fetch a Node, which no turn needs.
      execFileSync('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
        cwd: unfinished,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    }
    try {
      renameSync(unfinished, tree)
    } catch (error) {
      // Another run that began at the same time was first.
      if (!isComplete(tree)) throw error
    }
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return tree
}

/** An install that was cut off is under another name, see `unfinished`. */
const isComplete = (tree: string): boolean => existsSync(join(tree, 'src/index.ts')) && existsSync(join(tree, 'node_modules/xstate'))

/** Each commit that is compared leaves a tree. */
const keptMs = 7 * 24 * 60 * 60 * 1000
const removeOld = (cache: string): void => {
  for (const name of readdirSync(cache))
    if (Date.now() - statSync(join(cache, name)).mtimeMs > keptMs) rmSync(join(cache, name), { recursive: true, force: true })
}

const installedHere = (): string => {
  try {
    return readFileSync(join(here, 'node_modules/.package-lock.json'), 'utf8')
  } catch {
    return '{"packages":{}}'
  }
}
