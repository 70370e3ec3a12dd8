/**
 * Builds examples/services/roman.go where there is no Go: `node scripts/go-example.ts` prints the path of the program. Compiler and the client of NATS come
 * from the machine's own Debian archive, without root, and are removed again; what stays is the program, in node_modules/.cache.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openApt, upstreamVersion } from './apt-package.ts'

const source = fileURLToPath(new URL('../examples/services/roman.go', import.meta.url))
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/statecast/go-example', import.meta.url))

const libraries = [
  'golang-github-nats-io-go-nats-dev',
  'golang-github-nats-io-nkeys-dev',
  'golang-github-nats-io-nuid-dev',
  'golang-github-klauspost-compress-dev',
  'golang-golang-x-crypto-dev',
  'golang-golang-x-sys-dev',
]

/** The path of the program, built now unless it is there: that takes about a minute. @throws Error where apt has no Go for us */
export const goExample = async (report = (line: string) => void process.stderr.write(`go-example: ${line}\n`)): Promise<string> => {
  const program = join(
    cacheFolder,
    `roman-${createHash('sha256')
      .update(await readFile(source))
      .digest('hex')
      .slice(0, 16)}`,
  )
  if (await runs(program)) return program
  report('fetching a Go, once')
  await mkdir(cacheFolder, { recursive: true })
  const folder = await mkdtemp(join(cacheFolder, '.fetch-'))
  try {
    const made = await build(folder)
    await rename(made, program)
    return program
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** It cannot connect, and says so: then it runs here. */
const runs = async (program: string): Promise<boolean> => {
  try {
    await promisify(execFile)(program, ['nats://127.0.0.1:1'], { timeout: 10_000 })
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 1
  }
}

const build = async (folder: string): Promise<string> => {
  const apt = await openApt(folder, ['testing', 'unstable'])
  const newest = async (name: string): Promise<string> => (await apt.versions(name))[0] as string
  const [release] = /^\d+\.\d+/.exec(upstreamVersion(await newest('golang-go'))) ?? []
  const root = join(folder, 'root')
  // One after the other: apt locks its folder.
  for (const name of [`golang-${release}-go`, `golang-${release}-src`, ...libraries])
    await cp(await apt.unpack(name, await newest(name)), root, { recursive: true, verbatimSymlinks: true })
  const home = join(root, 'usr/lib', `go-${release}`)
  const program = join(folder, 'roman')
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GOROOT: home,
    GOPATH: join(root, 'usr/share/gocode'),
    GOCACHE: join(folder, 'build'),
    GO111MODULE: 'off',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  }
  await promisify(execFile)(join(home, 'bin/go'), ['build', '-o', program, source], { env, timeout: 300_000 })
  return program
}

if (import.meta.main) console.log(await goExample())
