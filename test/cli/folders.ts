/** What tests of the command line share, whether a command runs in their process or in its own. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterThisTest } from '../support/cleanup.ts'
import { repository } from '../tidy/sources.ts'

export const testApp = join(repository, 'test/cli/fixtures/app.ts')
/** The same, edited. */
export const changedApp = join(repository, 'test/cli/fixtures/changed.ts')

export type Ended = { code: number | null; stdout: string; stderr: string; lines: string[] }
export type How = {
  folder: string
  input?: string | Buffer
  env?: Record<string, string>
  keepStdinOpen?: boolean
  /** Default: the command of the repository. */
  program?: string
}

export const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-cli-'))
  afterThisTest(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

/** @param end is called when the test has finished, if `ended` has not settled by then */
export const endsWithTest = (ended: Promise<unknown>, end: () => unknown): void => {
  let isRunning = true
  const settle = () => {
    isRunning = false
  }
  ended.then(settle, settle)
  afterThisTest(() => isRunning && end())
}

/** A command that runs, here or as a process. */
export type Running = {
  stdin: NodeJS.WritableStream
  signal(name: 'SIGINT' | 'SIGTERM'): void
  ended: Promise<Ended>
  firstLine: Promise<string>
  /** Resolves once the command has printed that. */
  prints(part: string): Promise<void>
}
export type Node = Running & { url: string; pid: number; token: string }

/** Collects what a command prints. */
export class Printed {
  stdout = ''
  stderr = ''
  readonly #waiting = new Set<() => void>()

  add(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text
    for (const look of this.#waiting) look()
  }

  ended(code: number | null): Ended {
    return { code, stdout: this.stdout, stderr: this.stderr, lines: this.stdout.split('\n').filter((line) => line !== '') }
  }

  /** @param find what to wait for in stdout @param ended rejects the wait where the command ends first */
  until<Found>(find: (stdout: string) => Found | undefined, ended: Promise<Ended>): Promise<Found> {
    const { promise, resolve, reject } = Promise.withResolvers<Found>()
    const look = () => {
      const found = find(this.stdout)
      if (found !== undefined) resolve(found)
    }
    this.#waiting.add(look)
    look()
    ended.then((end) => reject(new Error(`ended with ${end.code} before it printed that: ${end.stderr}`)), reject)
    return promise.finally(() => this.#waiting.delete(look))
  }
}

/** @param running `statecast up --json` @returns the node, once it has printed its address */
export const nodeOf = async <Started extends Running>(running: Started): Promise<Started & Node> => ({
  ...running,
  ...(JSON.parse(await running.firstLine) as { url: string; pid: number; token: string }),
})

/** Sends a command to a node over HTTP. @returns the response as text */
export const rpc = async ({ url, token }: Pick<Node, 'url' | 'token'>, command: string, params: object = {}): Promise<string> => {
  const headers = { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` }
  const response = await fetch(`${url}/rpc/${command}`, { method: 'POST', headers, body: JSON.stringify(params) })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

/** Sends an event to an actor of the app, which no command does. */
export const tell = async (node: Node, kind: string, id: string, event: { type: string; [key: string]: unknown }): Promise<void> => {
  await rpc(node, 'actors.send', { kind, id, event })
}

/** Ends a node as its operator would, so that its folder is free again. */
export const stopNode = async (node: Running): Promise<void> => {
  node.signal('SIGTERM')
  await node.ended
}

/** Waits until a file has content: a file is there before a word of it is written. */
export const untilFile = async (file: string): Promise<void> => {
  for (let waited = 0; (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0; waited += 20) {
    if (waited > 60_000) throw new Error(`${file} did not appear`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
