/** Bugs that somebody might make are planted, one after the other, and each has to be noticed: a twelfth of them each day. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { partToday } from '../support/share.ts'

const run = fileURLToPath(new URL('./run.ts', import.meta.url))

const { part, of } = partToday(12)

test(`[SHOW-PLANTED] every planted bug is noticed by the simulation or by a test (part ${part + 1} of ${of})`, { timeout: 3_600_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [run, '--share', `${part + 1}/${of}`]).catch(
    (error: { stdout: string; stderr: string }) => error,
  )

  const survivors = stdout.split('\n').filter((line) => line.startsWith('SURVIVED'))
  expect(stderr).toBe('')
  expect(survivors).toEqual([])
  expect(stdout).toMatch(/^(\d+) of \1 planted bugs caught$/m)
})
