/** Data folders and child processes for tests of the store on disk. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { WriterOptions } from '../../src/transport/embedded/writer.ts'

/** Makes fresh folders that are gone after the test file. @param make where they lie: {@link diskFolder} for those that test durability */
export const folders = (make = (name: string): string => mkdtempSync(join(tmpdir(), name))): (() => string) => {
  const base = make('statecast-transport-')
  afterAll(() => rmSync(base, { recursive: true, force: true }))
  let count = 0
  return () => join(base, `${(count += 1)}`)
}

/** Leaves every commit to the writer thread. */
export const neverHere: NonNullable<WriterOptions['pace']> = { here: () => false, took: () => undefined }

export type Child = { process: ChildProcess; lines: AsyncIterator<string>; kill(): Promise<void>; ended: Promise<number | null> }

/** Runs `fixtures/<name>.ts` in a process of its own. */
export const aChild = (name: string, ...values: string[]): Child => {
  const program = fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url))
  const child = spawn(process.execPath, [program, ...values], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  return {
    process: child,
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    ended,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
