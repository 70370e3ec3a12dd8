/** Every example runs as its reader would run it and prints what its folder says. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../examples', import.meta.url))
const examples = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() && /^\d/.test(entry.name) ? [entry.name] : []))
const textOf = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8')

/** Without a model key, which would make an example talk to the world. */
const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
// A crash, or a provider that fails, is logged as a warning, which is no part of what an example shows.
const env = { PATH, HOME, STATECAST_LOG: 'error', ...(TMPDIR && { TMPDIR }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }

type Output = { stdout: string; stderr: string; code: unknown }

const run = async (program: string, ...names: string[]): Promise<Output> => {
  const child = spawn(process.execPath, [program, ...names], { stdio: ['ignore', 'pipe', 'pipe'], env })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const [code] = await once(child, 'close')
  return { stdout, stderr, code }
}
const runAlone = (name: string) => run(join(folder, name, 'main.ts'))

/** An example that starts processes, or exits, runs in its own process. The others share one, which must exit by itself. */
const [alone = [], shared = []] = [true, false].map((own) => examples.filter((name) => /\bprocess\./.test(textOf(name, 'main.ts')) === own))

const runShared = async (): Promise<Output[]> => {
  const { stdout, stderr, code } = await run(fileURLToPath(new URL('support/run-examples.ts', import.meta.url)), ...shared)
  // The program ends the output of each example with a line that names it.
  const [out, err] = [stdout, stderr].map((text) => text.split(/\n--- [\w-]+\n/))
  return shared.map((_, place) => ({ stdout: out?.[place] ?? '', stderr: err?.[place] ?? '', code }))
}

/** It waits ten seconds for a time of day, while the others run. */
const slowest = '17-schedule'
const slow = runAlone(slowest)
let others: Promise<Output[]> | undefined

const outputOf = (name: string): Promise<Output | undefined> => {
  if (name === slowest) return slow
  if (alone.includes(name)) return runAlone(name)
  others ??= runShared()
  return others.then((outputs) => outputs[shared.indexOf(name)])
}

test.each(examples)('example %s prints what it says', async (name) => {
  expect(await outputOf(name)).toEqual({ stdout: textOf(name, 'expected.txt'), stderr: '', code: 0 })
})

test('the examples are numbered, short, explained, and listed in their order', () => {
  const listed = [...textOf('README.md').matchAll(/\]\((\d\d-[a-z-]+)\/?\)/g)].map(([, name]) => name)
  expect(listed).toEqual(examples.toSorted())
  for (const name of examples) {
    expect(existsSync(join(folder, name, 'README.md')), `${name} has no README.md`).toBe(true)
    expect(textOf(name, 'README.md')).toContain(`examples/${name}/main.ts`)
    expect(textOf(name, 'main.ts').split('\n').length, `${name}/main.ts is long`).toBeLessThanOrEqual(61)
  }
})
