/**
 * Plants each bug into a copy of the source and says who notices: the simulation, else the tests of the runtime.
 * `node test/mutants/run.ts [--only NAME] [--seeds 400]`; the exit code says whether one survived.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Mutant, mutants } from './mutants.ts'

const { values } = parseArgs({ options: { only: { type: 'string' }, seeds: { type: 'string', default: '400' } } })
const repository = fileURLToPath(new URL('../..', import.meta.url))
/** A planted bug may hang whatever it breaks. */
const patienceMs = 240_000

/** A copy of what the tests need. */
const copy = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-mutant-'))
  for (const part of ['src', 'test', 'scripts', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
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

const run = (folder: string, command: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(folder, command), ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    timeout: patienceMs,
    killSignal: 'SIGKILL',
  })

const look = (folder: string): Noticed | undefined => {
  const simulated = run(folder, 'test/simulation/long.ts', '--seeds', values.seeds, '--first')
  if (simulated.status !== 0)
    return { by: 'simulation', words: firstWords(simulated.stdout, /^seed \d+ finds:\n\s*(.*)/m) ?? simulated.stderr.slice(0, 120) }
  const tested = run(folder, 'node_modules/vitest/vitest.mjs', 'run', 'test/actors', 'test/runtime', 'test/machines', 'test/tools')
  return tested.status === 0 ? undefined : { by: 'tests', words: firstWords(tested.stdout, /FAIL.*?test\/(.*)/) ?? 'the suite' }
}

const firstWords = (text: string, pattern: RegExp): string | undefined => pattern.exec(text)?.[1]?.slice(0, 110)

const control = copy()
const sound = look(control)
if (sound) throw new Error(`without any planted bug the ${sound.by} says: ${sound.words}`)
rmSync(control, { recursive: true, force: true })

const chosen = mutants.filter(({ name }) => values.only === undefined || name.includes(values.only))
let caught = 0
for (const mutant of chosen) {
  const folder = plant(mutant)
  const began = performance.now()
  const noticed = look(folder)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  if (noticed) caught++
  console.log(`${noticed ? `caught by the ${noticed.by}` : 'SURVIVED'} after ${seconds} s: ${mutant.name}${noticed ? ` (${noticed.words})` : ''}`)
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${caught} of ${chosen.length} planted bugs caught`)
process.exit(caught === chosen.length ? 0 : 1)
