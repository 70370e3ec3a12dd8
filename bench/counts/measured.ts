/** The counts of one turn in memory, taken in a process of their own. Started by `bench/counts.ts`. */
import { promiseHooks } from 'node:v8'
import type { Model } from '../../src/index.ts'
import { serve } from '../child.ts'
import { median } from '../measure.ts'
import type { Message } from '../workload.ts'
import { Counter, type Entered } from './entered.ts'

export type CountsInput = { what: 'entered' } | { what: 'allocated'; turns: number }
export type EnteredCounts = Record<Message, Entered> & { delta: Pick<Entered, 'files' | 'functions'> }
/** Bytes and promises of a turn; `without` are the promises that its model and its reader make by themselves. */
export type AllocatedCounts = Record<Message, { bytes: number; promises: number; without: number }>

const messages: Message[] = ['plain', 'tool']

/** The first turn of a session, in a process that has had others. */
const entered = async (): Promise<EnteredCounts> => {
  // Before the sources are loaded, see there.
  const counter = new Counter()
  const { benchRuntime, turn } = await import('../workload.ts')
  const runtime = await benchRuntime({ transport: 'memory:' })
  const counted = { delta: await ofDelta(counter) } as EnteredCounts
  for (const message of messages) {
    await turn(runtime, `${message} before`, message)
    counted[message] = await leastOf(async (attempt) => {
      counter.take()
      await turn(runtime, `${message}${attempt}`, message)
      return counter.take()
    })
  }
  await runtime.close()
  return counted
}

/** A timer that has nothing to do with a turn may fall into one of them, and hardly into all. */
const leastOf = async <Figures extends Record<string, number>>(measure: (attempt: number) => Promise<Figures>): Promise<Figures> => {
  const all = [await measure(1), await measure(2), await measure(3)]
  return Object.fromEntries(Object.keys(all[0] as Figures).map((name) => [name, Math.min(...all.map((one) => one[name] as number))])) as Figures
}

/** From the model that says it to the reader who has it, in the middle of an answer. */
const ofDelta = async (counter: Counter): Promise<EnteredCounts['delta']> => {
  const { benchRuntime, usage } = await import('../workload.ts')
  let heard = Promise.withResolvers<void>()
  let counted: Entered | undefined
  const model: Model = {
    ref: 'bench/instant',
    call: async (_, { onDelta }) => {
      const say = async () => {
        heard = Promise.withResolvers<void>()
        onDelta({ kind: 'text', text: 'word ' })
        await heard.promise
      }
      for (let index = 0; index < 10; index++) await say()
      counter.take()
      await say()
      counted = counter.take()
      return { text: 'word '.repeat(11), reasoning: '', calls: [], usage, finish: 'stop', model: 'bench/instant', partial: false }
    },
  }
  const runtime = await benchRuntime({ transport: 'memory:' }, model)
  const run = await runtime.session('delta').send('plain')
  for await (const { type } of run.events()) if (type === 'delta') heard.resolve()
  await runtime.close()
  const { files, functions } = counted as Entered
  return { files, functions }
}

const allocated = async (turns: number): Promise<AllocatedCounts> => {
  const { benchRuntime, turn } = await import('../workload.ts')
  const runtime = await benchRuntime({ transport: 'memory:' })
  let rounds = 0
  // Ten of each session.
  const some = async (message: Message) => {
    rounds++
    for (let index = 0; index < turns; index++) await turn(runtime, `${rounds} ${index % (turns / 10)}`, message)
  }
  // What is compiled allocates less than what is interpreted.
  for (let round = 0; round < 4; round++) for (const message of messages) await some(message)
  const bytes = async (message: Message): Promise<number> => {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    await some(message)
    return (process.memoryUsage().heapUsed - before) / turns
  }
  const counts = {} as AllocatedCounts
  for (const message of messages) {
    const figures = [await bytes(message), await bytes(message), await bytes(message)]
    const { promises } = await leastOf(async (attempt) => ({
      promises: await promisesOf(() => turn(runtime, `${message} promises ${attempt}`, message)),
    }))
    counts[message] = { bytes: median(figures), promises, without: await withoutRuntime(message) }
  }
  await runtime.close()
  return counts
}

const promisesOf = async (work: () => Promise<unknown>): Promise<number> => {
  let count = 0
  const stop = promiseHooks.onInit(() => {
    count++
  }) as () => void
  await work()
  stop()
  return count
}

/** What the workload makes by itself: its model, and two for each event that `for await` reads, whatever it reads from. */
const withoutRuntime = async (message: Message): Promise<number> => {
  const { deltas, instantModel } = await import('../workload.ts')
  const model = instantModel()
  const asked = (text: string) => {
    const request = { messages: [{ role: 'user', id: 'm', text }] } as unknown as Parameters<Model['call']>[0]
    return promisesOf(() => model.call(request, { signal: new AbortController().signal, onDelta: () => undefined }))
  }
  return (message === 'tool' ? await asked('tool') : 0) + (await asked('plain')) + 2 * deltas
}

serve(async (input: CountsInput) => (input.what === 'entered' ? entered() : allocated(input.turns)))
