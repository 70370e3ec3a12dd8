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

/** Such as a model key, which would make an example talk to the world. */
const { PATH, HOME, TMPDIR } = process.env

test.each(examples)('example %s prints what it says', async (name) => {
  const child = spawn(process.execPath, [join(folder, name, 'main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A crash, or a provider that fails, is logged as a warning, which is no part of what an example shows.
    env: { PATH, HOME, STATECAST_LOG: 'error', ...(TMPDIR ? { TMPDIR } : {}) },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))

  const [code] = await once(child, 'close')

  expect({ stdout, stderr, code }).toEqual({ stdout: textOf(name, 'expected.txt'), stderr: '', code: 0 })
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
