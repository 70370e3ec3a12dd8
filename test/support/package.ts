/** The package as users get it: packed from a copy, so that no build appears in the repository under a running test. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { filesUnder, repository } from '../tidy/sources.ts'

export type Packed = { folder: string; tarball: string; files: string[] }

const run = promisify(execFile)

/** Without what npm tells the scripts that it starts, which would lead another npm to this folder. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:npm_config_local_prefix|npm_package_.*|npm_lifecycle_.*|INIT_CWD|(?:ANTHROPIC|OPENAI|STATECAST)_.*)$/.test(name),
    ),
  )

/** Runs a program in a folder. @throws Error with all that it wrote */
export const runIn = async (cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<string> => {
  try {
    const { stdout } = await run(command, args, { cwd, env: { ...environment(), ...env }, maxBuffer: 64 * 1024 * 1024 })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** `npm pack`, the build included. Remove the folder afterwards. */
export const pack = async (): Promise<Packed> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-package-'))
  const copy = join(folder, 'source')
  for (const file of [...filesUnder('.'), '.npmrc']) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(repository, file), join(copy, file))
  }
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'))
  await runIn(copy, 'npm', ['run', 'build'])
  const said = await runIn(copy, 'npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder])
  const [packed] = Object.values(JSON.parse(said) as Record<string, { filename: string; files: { path: string }[] }>)
  if (packed === undefined) throw new Error(`npm pack said ${said}`)
  return { folder, tarball: join(folder, packed.filename), files: packed.files.map(({ path }) => path) }
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

/** The code of a page in the language that it names. */
export const codeIn = (page: string, language = 'ts'): string[] =>
  [...readFileSync(join(repository, page), 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code)
