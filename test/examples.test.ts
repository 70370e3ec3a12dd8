/** Every example runs as its reader would run it and prints what its folder says. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { dieWithUs } from './support/guard.ts'

const folder = fileURLToPath(new URL('../examples', import.meta.url))
const examples = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() && /^\d/.test(entry.name) ? [entry.name] : []))
const textOf = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8')

/** Without a model key, which would make an example talk to the world. */
const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
// A crash, or a provider that fails, is logged as a warning, which is no part of what an example shows.
const env = { PATH, HOME, STATECAST_LOG: 'error', ...(TMPDIR && { TMPDIR }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }

type Output = { stdout: string; stderr: string }
type Program = { output: Output; ended: Promise<unknown> }

/** @param grown is called as it prints */
const start = (program: string, names: readonly string[] = [], grown: (output: Output) => void = () => undefined): Program => {
  const child = spawn(process.execPath, [program, ...names], { stdio: ['ignore', 'pipe', 'pipe'], env })
  if (child.pid !== undefined) child.once('exit', dieWithUs(child.pid))
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
      grown(output)
    })
  return { output, ended: once(child, 'close').then(([code]) => code) }
}

/** An example that starts processes, or exits, runs in its own process. The others share one, which must exit by itself. */
const [alone = [], shared = []] = [true, false].map((own) => examples.filter((name) => /\bprocess\./.test(textOf(name, 'main.ts')) === own))

const runAlone = async (name: string): Promise<Output> => {
  const { output, ended } = start(join(folder, name, 'main.ts'))
  expect(await ended, `${name}: exit code`).toBe(0)
  return output
}

/** What each of them prints is known as soon as it ends, so that one that hangs fails by its name. */
const runShared = (): { outputs: Promise<Output>[]; ended: Promise<unknown> } => {
  const outputs = shared.map(() => Promise.withResolvers<Output>())
  // The program ends the output of each example with a line that names it.
  const partsOf = (text: string) => text.split(/\n--- [\w-]+\n/)
  const { output, ended } = start(fileURLToPath(new URL('support/run-examples.ts', import.meta.url)), shared, ({ stdout, stderr }) => {
    const [out, err] = [partsOf(stdout), partsOf(stderr)]
    for (const [place, { resolve }] of outputs.entries())
      if (place < Math.min(out.length, err.length) - 1) resolve({ stdout: out[place] as string, stderr: err[place] as string })
  })
  void ended.then(() => {
    for (const { resolve } of outputs) resolve(output)
  })
  return { outputs: outputs.map(({ promise }) => promise), ended }
}

/** It waits ten seconds for a time of day, while the others run. */
const slowest = '17-schedule'
const slow = runAlone(slowest)
slow.catch(() => undefined)
let others: ReturnType<typeof runShared> | undefined

const outputOf = (name: string): Promise<Output> | undefined => {
  if (name === slowest) return slow
  if (alone.includes(name)) return runAlone(name)
  others ??= runShared()
  return others.outputs[shared.indexOf(name)]
}

test.each(examples)('example %s prints what it says', async (name) => {
  expect(await outputOf(name)).toEqual({ stdout: textOf(name, 'expected.txt'), stderr: '' })
})

test('the process that several examples share exits by itself', async () => {
  others ??= runShared()
  expect(await others.ended).toBe(0)
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
