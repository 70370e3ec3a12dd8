/** How much later does the first word come, with a real provider package in between? */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { agent, createRuntime, type Runtime } from '../src/index.ts'
import { amount, ask, median, type Table } from './measure.ts'
import { withFolder } from './workload.ts'

const calls = amount(200)
const text = 'Say something about yourself.'
const modelId = 'offline'

/** In a process of its own, as servers are: what it takes to answer must not hold up our event loop. It sends without a pause between two words. */
const startServer = async (): Promise<{ url: string; stop: () => void }> => {
  const program = fileURLToPath(new URL('../test/support/openai-server.ts', import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, '--delay', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const stop = () => void child.kill()
  process.once('exit', stop)
  for await (const url of createInterface(child.stdout)) return { url, stop }
  throw new Error('the server ended before it said its address')
}

/** The median of µs until the first word. Each answer is read to its end, which frees the connection, before the next call. */
const medianOf = (firstWord: () => Promise<number>) => async (): Promise<number> => {
  const took: number[] = []
  for (let index = 0; index < calls; index++) {
    const start = performance.now()
    const first = await firstWord()
    if (!(first > start)) throw new Error('an answer came without a word')
    took.push((first - start) * 1000)
  }
  return median(took)
}

const bare = (url: string) => {
  // As src/models/providers.ts makes it from the variables.
  const model = createOpenAICompatible({ name: 'openai-compatible', baseURL: url, includeUsage: true })(modelId)
  return async (): Promise<number> => {
    const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text }] }] })
    let first = 0
    for await (const part of stream) if (part.type === 'text-delta' && part.delta !== '' && first === 0) first = performance.now()
    return first
  }
}

/** Each call in a session of its own, so that the provider gets the same prompt each time. */
const turnsOf = (runtime: Runtime) => {
  let session = 0
  return async (): Promise<number> => {
    const run = await runtime.session(`first-${session++}`).send(text)
    let first = 0
    for await (const event of run.events()) if (event.type === 'delta' && first === 0) first = performance.now()
    await run.result()
    return first
  }
}

export const run = (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const server = await startServer()
    // As a user would name it. A key is not needed, and one that happens to be set is nothing for this server.
    process.env.OPENAI_BASE_URL = server.url
    delete process.env.OPENAI_API_KEY
    const agents = [agent({ name: 'main', model: `openai-compatible/${modelId}` })]
    const memory = await createRuntime({ transport: 'memory:', agents })
    const disk = await createRuntime({ transport: `embedded:${join(folder, 'store')}`, agents })
    const [inMemory, onDisk] = ['statecast, in memory', 'statecast, on disk and synced'] as const
    const table = await ask({
      title: 'from the message to the first delta, openai-compatible over HTTP from a server that answers at once',
      unit: 'µs, p50',
      rounds: 3,
      contenders: [
        { name: 'floor: doStream() of the bare provider', round: medianOf(bare(server.url)) },
        { name: inMemory, round: medianOf(turnsOf(memory)) },
        { name: onDisk, round: medianOf(turnsOf(disk)) },
      ],
      goals: [inMemory, onDisk].map((row) => ({ row, of: 'ratio', bound: 'at most', limit: 2 })),
      note: 'The server runs on the same machine and answers at once. A real one takes longer for its first word, which makes every ratio smaller.',
    })
    await memory.close()
    await disk.close()
    server.stop()
    return [table]
  })

if (import.meta.main) await run()
