/** Plants plausible bugs one at a time; the suite must catch each. One run plants a twelfth of them. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { choosePart } from '../support/share.ts'

const run = fileURLToPath(new URL('./run.ts', import.meta.url))

const { part, of } = choosePart(import.meta.url, 12)

test(`[SHOW-PLANTED] every planted bug is noticed by the simulation or by a test (part ${part} of ${of})`, { timeout: 3_600_000 }, async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [run, '--share', `${part}/${of}`]).catch(
    (error: { stdout: string; stderr: string }) => error,
  )

  const survivors = stdout.split('\n').filter((line) => line.startsWith('SURVIVED'))
  expect(stderr).toBe('')
  expect(survivors).toEqual([])
  expect(stdout).toMatch(/^(\d+) of \1 planted bugs caught$/m)
})
