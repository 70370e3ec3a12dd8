/**
 * Gets the conformance cases of SCXML that npm has: `node scripts/scxml-cases.ts` prints their folder. They come as a tarball and not as a
 * dependency, since their package brings along some two hundred old ones that nobody here needs.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const name = '@scion-scxml/test-framework'
const version = '2.0.16'
/** Of the tarball, as lock files have it: whoever serves it, it is this one. */
const integrity = 'sha512-5rRd5CdFLUzmPaO43NSamBmhq6uW/0kUmUneEnqRSbAj0FiFVAINd1DfadUkdECT+xHLARCJZU7meQD4nqYyKw=='
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/statecast/scxml-cases', import.meta.url))

/**
 * The folder of the cases: fetched earlier, else now, from the registry that npm is configured for.
 * @throws Error saying how to get them
 */
export const scxmlCases = async (): Promise<string> => {
  const target = join(cacheFolder, version)
  const cases = join(target, 'test')
  if (existsSync(cases)) return cases
  await mkdir(cacheFolder, { recursive: true })
  // Next to its later place, as a rename works only within one file system.
  const folder = await mkdtemp(join(cacheFolder, '.fetch-'))
  try {
    await rename(await unpacked(folder), target).catch((error: unknown) => {
      // Another process was first: what it has put there is the same.
      if (!existsSync(cases)) throw error
    })
    return cases
  } catch (cause) {
    throw new Error(`no cases of SCXML: put what is in the package ${name}@${version} into ${target}, or let npm reach a registry that has it`, {
      cause,
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @returns the folder of the package within */
const unpacked = async (folder: string): Promise<string> => {
  await run('npm', ['pack', `${name}@${version}`, '--ignore-scripts', '--pack-destination', folder], { timeout: 120_000 })
  const [file] = (await readdir(folder)).filter((entry) => entry.endsWith('.tgz'))
  if (file === undefined) throw new Error('npm pack has made no tarball')
  const tarball = join(folder, file)
  const digest = createHash('sha512').update(await readFile(tarball))
  const found = `sha512-${digest.digest('base64')}`
  if (found !== integrity) throw new Error(`the tarball is another one: ${found}`)
  await run('tar', ['-xzf', tarball, '-C', folder])
  return join(folder, 'package')
}

if (import.meta.main) console.log(await scxmlCases())
