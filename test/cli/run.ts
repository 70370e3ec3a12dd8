/** Runs the real `statecast` in processes of its own, each test in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterThisTest } from '../support/cleanup.ts'
import { repository } from '../tidy/sources.ts'

const bin = join(repository, 'bin/statecast.js')
export const testApp = join(repository, 'test/cli/fixtures/app.ts')
/** The same, edited. */
export const changedApp = join(repository, 'test/cli/fixtures/changed.ts')

/** Without the keys and settings of whoever runs the tests. */
const cleanEnvironment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC|OPENAI|STATECAST)_/.test(name)))

export type Ended = { code: number | null; stdout: string; stderr: string; lines: string[] }
export type Running = { process: ChildProcess; ended: Promise<Ended>; firstLine: Promise<string> }

export const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-cli-'))
  afterThisTest(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

type How = { folder: string; input?: string | Buffer; env?: Record<string, string>; keepStdinOpen?: boolean }

export const start = ({ folder, input = '', env = {}, keepStdinOpen = false }: How, ...args: string[]): Running => {
  const child = spawn(process.execPath, [bin, ...args], { cwd: folder, env: { ...cleanEnvironment, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  afterThisTest(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  // Somebody may have enough before everything is written.
  child.stdin.on('error', () => undefined)
  if (!keepStdinOpen) child.stdin.end(input)
  const ended = once(child, 'close').then(([code]): Ended => {
    return { code: code as number | null, stdout, stderr, lines: stdout.split('\n').filter((line) => line !== '') }
  })
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    ended.then((end) => reject(new Error(`ended with ${end.code} before it said anything: ${end.stderr}`)), reject)
  })
  // A wait that goes on when its test has ended starts one more in a folder that is gone by then: whoever waits hears of it, and nobody else.
  for (const promise of [ended, firstLine]) promise.catch(() => undefined)
  return { process: child, ended, firstLine }
}

export const statecast = (how: How, ...args: string[]): Promise<Ended> => start(how, ...args).ended

export type Node = Running & { url: string; pid: number; token: string }

export const aNode = async (how: How, ...args: string[]): Promise<Node> => {
  const node = start(how, 'up', '--port', '0', '--json', ...args)
  return { ...node, ...(JSON.parse(await node.firstLine) as { url: string; pid: number; token: string }) }
}

/** Asks a node without a command line: where a test asks again and again, each of those would take a process of its own. @returns what it says, as text */
export const rpc = async ({ url, token }: Node, command: string, params: object = {}): Promise<string> => {
  const headers = { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` }
  const response = await fetch(`${url}/rpc/${command}`, { method: 'POST', headers, body: JSON.stringify(params) })
  const said = await response.text()
  if (!response.ok) throw new Error(said)
  return said
}

/** Sends an event to an actor of the app, which no command does. */
export const tell = async (node: Node, kind: string, id: string, event: { type: string; [key: string]: unknown }): Promise<void> => {
  await rpc(node, 'actors.send', { kind, id, event })
}

/** Ends a node as its operator would, so that its folder is free again. */
export const stopped = async (node: Node): Promise<void> => {
  node.process.kill('SIGTERM')
  await node.ended
}

/** Waits for a fact in the file system, which is what processes share. A file is there before a word of it is written. */
export const untilFile = async (file: string): Promise<void> => {
  for (let waited = 0; (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0; waited += 20) {
    if (waited > 60_000) throw new Error(`${file} did not appear`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
