/**
 * Plants each bug into a copy of the source and says who notices: the simulation, or the tests that the bug names.
 * `node test/mutants/run.ts [--only NAME] [--share 1/3] [--seeds 400]`; the exit code says whether one survived.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Mutant, mutants } from './mutants.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, share: { type: 'string', default: '1/1' }, seeds: { type: 'string', default: '400' } },
})
const repository = fileURLToPath(new URL('../..', import.meta.url))
/** A planted bug may hang whatever it breaks. */
const patienceMs = 480_000

/** A copy of what the tests need. */
const copy = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-mutant-'))
  for (const part of ['src', 'test', 'scripts', 'bin', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
    cpSync(join(repository, part), join(folder, part), { recursive: true })
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const plant = ({ file, find, replace }: Mutant): string => {
  const folder = copy()
  const path = join(folder, 'src', file)
  const source = readFileSync(path, 'utf8')
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`${file} has ${places} places like ${find.slice(0, 80)}: mend the list`)
  writeFileSync(
    path,
    source.replace(find, () => replace),
  )
  return folder
}

type Noticed = { by: 'simulation' | 'tests'; words: string }

type Ended = { status: number | null; stdout: string; stderr: string }

const run = (folder: string, command: string, ...args: string[]): Promise<Ended> => {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>()
  const env = { ...process.env, NO_COLOR: '1' }
  const child = spawn(process.execPath, [join(folder, command), ...args], { cwd: folder, env, timeout: patienceMs, killSignal: 'SIGKILL' })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) child[stream].setEncoding('utf8').on('data', (text: string) => (said[stream] += text))
  child.on('error', reject).on('close', (status) => resolve({ status, ...said }))
  return promise
}

const simulated = async (folder: string): Promise<Noticed | undefined> => {
  const { status, stdout, stderr } = await run(folder, 'test/simulation/long.ts', '--seeds', values.seeds, '--first')
  if (status === 0) return undefined
  return { by: 'simulation', words: firstWords(stdout, /^seed \d+ finds:\n\s*(.*)/m) ?? stderr.slice(0, 120) }
}

const tested = async (folder: string, tests: string[]): Promise<Noticed | undefined> => {
  const { status, stdout, stderr } = await run(folder, 'node_modules/vitest/vitest.mjs', 'run', '--bail=1', ...tests)
  if (status === 0) return undefined
  const said = stdout + stderr
  const words = [firstWords(said, /FAIL.*?test\/(.*)/) ?? 'the suite', firstWords(said, /^(\w*Error: .*)/m) ?? '']
  return { by: 'tests', words: words.join(': ') }
}

const firstWords = (text: string, pattern: RegExp): string | undefined => pattern.exec(text)?.[1]?.slice(0, 110)

const [share = 1, shares = 1] = values.share.split('/').map(Number)
const chosen = mutants.filter(({ name }, place) => place % shares === share - 1 && (values.only === undefined || name.includes(values.only)))
if (chosen.length === 0) {
  console.error(
    `no planted bug is named like '${values.only ?? ''}' in the share ${values.share}; there are:\n${mutants.map(({ name }) => `  ${name}`).join('\n')}`,
  )
  process.exit(2)
}

const control = copy()
const named = [...new Set(chosen.flatMap(({ tests = [] }) => tests))]
const unplanted = async (): Promise<Noticed | undefined> =>
  (chosen.some(({ tests }) => !tests) ? await simulated(control) : undefined) ?? (named.length > 0 ? await tested(control, named) : undefined)
// What the other work of a machine does to a test does not happen twice.
const sound = (await unplanted()) && (await unplanted())
rmSync(control, { recursive: true, force: true })
if (sound) {
  console.error(`without any planted bug ${sound.by} says: ${sound.words}; a machine with other work may be too slow for some tests`)
  process.exit(1)
}

let caught = 0
const ask = async (mutant: Mutant): Promise<void> => {
  const folder = plant(mutant)
  const began = performance.now()
  const noticed = await (mutant.tests ? tested(folder, mutant.tests) : simulated(folder))
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  if (noticed) caught++
  console.log(`${noticed ? `caught by the ${noticed.by}` : 'SURVIVED'} after ${seconds} s: ${mutant.name}${noticed ? ` (${noticed.words})` : ''}`)
  rmSync(folder, { recursive: true, force: true })
}
// The simulation uses one core.
const waiting = chosen.values()
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (const mutant of waiting) await ask(mutant)
  }),
)
console.log(`${caught} of ${chosen.length} planted bugs caught`)
process.exit(caught === chosen.length ? 0 : 1)
