/** Work in a process of its own: a heap that nothing else has used, flags of its own, and nobody else's libraries. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** `shown`: what the child prints is seen. */
export type ChildOptions = { env?: Record<string, string>; timeoutMs?: number; flags?: string[]; shown?: boolean }

type Reply = { value: unknown } | { error: string }

export type Child = {
  /** One question at a time. @throws Error with what the child printed last, when it fails, dies or takes too long */
  ask<Out>(input: unknown): Promise<Out>
  /** Resolves when the process is gone. */
  end(): Promise<void>
}

export const openChild = (program: URL, { env = {}, timeoutMs = 240_000, flags = [], shown = false }: ChildOptions = {}): Child => {
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
  let question: PromiseWithResolvers<Reply> | undefined
  let failure: Error | undefined
  const fail = (error: Error): void => {
    failure ??= error
    question?.reject(failure)
  }
  child.on('message', (message) => question?.resolve(message as Reply))
  child.on('error', fail)
  const closed = new Promise<void>((resolve) => {
    child.on('close', (code, signal) => {
      fail(new Error(`the process ended with ${signal ?? code} and no answer: ${said.trim().split('\n').slice(-5).join(' | ')}`))
      resolve()
    })
  })
  return {
    async ask<Out>(input: unknown) {
      if (failure !== undefined) throw failure
      question = Promise.withResolvers<Reply>()
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        fail(new Error(`no answer within ${timeoutMs / 1000} s`))
      }, timeoutMs)
      child.send({ input }, (error) => error && fail(error))
      const reply = await question.promise.finally(() => clearTimeout(timer))
      if ('error' in reply) throw new Error(reply.error)
      return reply.value as Out
    },
    async end() {
      // The child leaves by itself: after a disconnect from this side `close` is never emitted.
      if (child.connected) child.send({ end: true }, () => undefined)
      await closed
    },
  }
}

/** One question to a new process. @throws Error with what the child printed last, when it fails, dies or takes too long */
export const inChild = async <Out>(program: URL, input: unknown, options?: ChildOptions): Promise<Out> => {
  const child = openChild(program, options)
  try {
    return await child.ask<Out>(input)
  } finally {
    await child.end()
  }
}

/** In the child: answers each question of its parent, and ends when the parent has no more. */
export const serve = <In>(work: (input: In) => Promise<unknown>): void => {
  process.on('message', (message: { input: In } | { end: true }) => {
    if ('end' in message) process.exit(0)
    const answer = (reply: Reply) => process.send?.(reply)
    work(message.input).then(
      (value) => answer({ value }),
      (error: unknown) => answer({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
  })
  process.once('disconnect', () => process.exit(0))
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
