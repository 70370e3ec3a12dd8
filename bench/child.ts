/** Work in a process of its own: a heap that nothing else has used, flags of its own, and nobody else's libraries. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** `shown`: what the child prints is seen. */
export type ChildOptions = { env?: Record<string, string>; timeoutMs?: number; flags?: string[]; shown?: boolean }

type Reply = { value: unknown } | { error: string }

/** @throws Error with what the child said last, when it fails, dies or takes too long */
export const inChild = <Out>(
  program: URL,
  input: unknown,
  { env = {}, timeoutMs = 240_000, flags = [], shown = false }: ChildOptions = {},
): Promise<Out> =>
  new Promise((resolve, reject) => {
    const execArgv = ['--disable-warning=ExperimentalWarning', ...flags]
    const child = fork(fileURLToPath(program), [], {
      execArgv,
      env: { ...process.env, ...env },
      stdio: ['ignore', shown ? 'inherit' : 'ignore', 'pipe', 'ipc'],
    })
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000)
    })
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`no answer within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    let reply: Reply | undefined
    child.on('message', (message) => {
      reply = message as Reply
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (reply === undefined)
        reject(new Error(`the process ended with ${signal ?? code} and no answer: ${said.trim().split('\n').slice(-5).join(' | ')}`))
      else if ('error' in reply) reject(new Error(reply.error))
      else resolve(reply.value as Out)
    })
    child.send({ input })
  })

/** In the child: does the one piece of work that its parent asks for, and ends. */
export const serve = <In>(work: (input: In) => Promise<unknown>): void => {
  const answer = (reply: Reply) => process.send?.(reply, () => process.exit(0))
  process.once('message', ({ input }: { input: In }) => {
    work(input).then(
      (value) => answer({ value }),
      (error: unknown) => answer({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
}

/** What the collector leaves, in bytes, on and off the heap. Needs `--expose-gc`. */
export const settledBytes = async (): Promise<number> => {
  if (typeof globalThis.gc !== 'function') throw new TypeError('run this process with --expose-gc')
  for (let round = 0; round < 4; round++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  // Array buffers are counted in `external` as well.
  return heapUsed + Math.max(external, arrayBuffers)
}
