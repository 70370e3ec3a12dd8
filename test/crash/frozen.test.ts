/** A process that is stopped in its tracks keeps its folder: nobody takes over what it may go on with. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { check } from './check.ts'
import { effectsFile, readLines } from './lines.ts'
import { aFolder } from './runs.ts'

const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const worker = fileURLToPath(new URL('./worker.ts', import.meta.url))

const start = (folder: string) => {
  const child = spawn(node, [worker, folder, 'approve', 'approve'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return { child, ended }
}

test('[INV-5] frozen in the middle of its tools, it is not replaced; thawed, it finishes, and nothing ran twice', async () => {
  const folder = aFolder()
  const first = start(folder)
  while (!readLines<{ tool: string }>(effectsFile(folder)).some(({ tool }) => tool === 'charge')) await sleep(2)
  first.child.kill('SIGSTOP')

  const second = await start(folder).ended
  await sleep(500)
  first.child.kill('SIGCONT')
  const end = await first.ended

  expect(second.code).not.toBe(0)
  expect(second.stderr).toContain('locked')
  expect(end.stdout).toContain('"replay":"identical"')
  expect(check(folder).violations).toEqual([])
  rmSync(folder, { recursive: true })
})
