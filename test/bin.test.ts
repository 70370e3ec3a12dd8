/** The launcher, on a command line that stands in for ours and says what reached it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { repository } from './tidy/sources.ts'

const command = `export const main = async (argv) => {
  // Whoever reads the line may send a signal at once.
  if (argv[0] === 'wait') process.on('SIGTERM', () => process.exit(7))
  console.log(JSON.stringify({ argv, pid: process.pid, node: process.versions.node, from: import.meta.url }))
  if (argv[0] === 'wait') {
    await new Promise((resolve) => setTimeout(resolve, 15000))
  }
  if (argv[0] === 'die') process.kill(process.pid, 'SIGKILL')
  return Number(argv[1] ?? 0)
}
`

/** A Node too old for us: the system's, where it is one (as on CI). */
const oldNode = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .find((file) => existsSync(file) && /^v(?:1\d|20|21)\./.test(execFileSync(file, ['--version'], { encoding: 'utf8' })))

let clone = ''
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'statecast-bin-'))
  await cp(join(repository, 'bin'), join(clone, 'bin'), { recursive: true })
  await writeFile(join(clone, 'package.json'), '{"type":"module"}')
  await mkdir(join(clone, 'src/cli'), { recursive: true })
  await writeFile(join(clone, 'src/cli/main.ts'), command.replace('(argv)', '(argv: string[]): Promise<number>'))
  await mkdir(join(clone, 'dist/cli'), { recursive: true })
  await writeFile(join(clone, 'dist/cli/main.js'), command)
  symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'))
})
afterAll(() => rm(clone, { recursive: true, force: true }))

const start = (node: string, args: string[], script = join(clone, 'bin/statecast.js')) =>
  spawn(node, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

type OutputEvent = { argv: string[]; pid: number; node: string; from: string }
const firstLine = (child: ChildProcess): Promise<OutputEvent> =>
  new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(JSON.parse(text) as OutputEvent)
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code} before a line came`)))
  })
const ended = (child: ChildProcess): Promise<[number | null, string | null]> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))

const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // A dead child that nobody has waited for still has a number; /proc tells it apart where there is one.
    return !existsSync('/proc/self/stat') || !/^State:\s+Z/m.test(execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' }))
  } catch {
    return false
  }
}

test('from a clone the sources run, without a build, and the exit code is what main() says', async () => {
  const child = start(process.execPath, ['send', '3'])
  const exit = ended(child)

  expect(await firstLine(child)).toMatchObject({ argv: ['send', '3'], from: expect.stringMatching(/src\/cli\/main\.ts$/), pid: child.pid })
  expect(await exit).toEqual([3, null])
})

test('under node_modules, where Node strips no types, the build runs', async () => {
  const installed = join(clone, 'app/node_modules/statecast')
  await mkdir(installed, { recursive: true })
  for (const part of ['bin', 'src', 'dist', 'package.json']) await cp(join(clone, part), join(installed, part), { recursive: true })

  const said = await firstLine(start(process.execPath, [], join(installed, 'bin/statecast.js')))

  expect(said.from).toMatch(/dist\/cli\/main\.js$/)
})

describe.skipIf(oldNode === undefined)('where the system has an older Node', () => {
  const old = oldNode ?? ''

  test('the Node of node_modules takes over, with arguments and exit code', async () => {
    const child = start(old, ['send', '4'])
    const exit = ended(child)

    expect(await firstLine(child)).toMatchObject({ argv: ['send', '4'], node: process.versions.node })
    expect(await exit).toEqual([4, null])
  })

  test('SIGTERM reaches the runtime, which decides how to end', async () => {
    const child = start(old, ['wait'])
    const exit = ended(child)
    await firstLine(child)

    child.kill('SIGTERM')

    expect(await exit).toEqual([7, null])
  })

  test('kill -9 of either takes the other along', async () => {
    const killed = start(old, ['wait'])
    const { pid } = await firstLine(killed)
    killed.kill('SIGKILL')
    await expect.poll(() => runs(pid)).toBe(false)

    expect(await ended(start(old, ['die']))).toEqual([null, 'SIGKILL'])
  })
})
