/**
 * Where the temporary files of tests lie. Most stores are there to be read again by the same test, not to survive a power cut, so they lie in memory where
 * the machine offers that: an fsync costs nothing there. What tests durability takes {@link diskFolder}.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../../scripts/nats-server.ts'

const memory = '/dev/shm'
const prefix = 'statecast-test-'
/** Tests of large stores need some; containers often have 64 MiB there. */
const roomMin = 2 * 1024 ** 3

/** Removes the folders of killed runs, which would hold memory until the machine restarts. Those of other users stay. */
const removeAbandoned = (): void => {
  for (const name of readdirSync(memory)) {
    const path = join(memory, name)
    if (name.startsWith(prefix) && !isAlive(Number(name.slice(prefix.length))) && lstatSync(path).uid === process.getuid?.())
      rmSync(path, { recursive: true, force: true })
  }
}

/** Tests run programs that they write: some machines allow none there. */
const canRunPrograms = (folder: string): boolean => {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o700)
  try {
    execFileSync(program)
    return true
  } catch {
    return false
  } finally {
    rmSync(program)
  }
}

/** @returns the folder in memory of this machine; undefined where there is none, or less room in it */
export const memoryWithRoom = (bytes: number): string | undefined => {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= bytes ? memory : undefined
  } catch {
    return undefined
  }
}

/** A folder in memory for the temporary files of this run; undefined where there is none, too little room, or no program may run in it. */
const memoryFolder = (): string | undefined => {
  const folder = join(memory, `${prefix}${process.pid}`)
  try {
    removeAbandoned()
    if (memoryWithRoom(roomMin) === undefined) return undefined
    mkdirSync(folder, { mode: 0o700 })
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    if (canRunPrograms(folder)) return folder
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Without memory the disk is fast enough.
  }
  return undefined
}

/** For vitest.config.ts, before workers start: `tmpdir()` is in memory from now on. A `TMPDIR` that the caller has set stays. */
export const keepScratchInMemory = (): void => {
  if (process.env.TMPDIR !== undefined || process.platform !== 'linux') return
  const disk = tmpdir()
  const folder = memoryFolder()
  if (folder === undefined) return
  process.env.STATECAST_TEST_DISK = disk
  process.env.TMPDIR = folder
}

/** A new folder on the disk of this machine. The caller removes it. */
export const diskFolder = (name: string): string => mkdtempSync(join(process.env.STATECAST_TEST_DISK ?? tmpdir(), name))
