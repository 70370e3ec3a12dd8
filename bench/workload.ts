/** Machines and sessions that several benchmarks share. */
import { assign, createActor, setup } from 'xstate'
import { z } from 'zod'
import type { Registration } from '../src/actors/registration.ts'
import type { Address } from '../src/contracts/subjects.ts'
import type { Transport } from '../src/contracts/transport.ts'
import { systemEnvironment } from '../src/environment.ts'
import { agent, createRuntime, type Runtime, tool } from '../src/index.ts'
import { openMemory } from '../src/transport/memory/open.ts'

export const light = setup({ types: { context: {} as { count: number; last: string }, events: {} as { type: 'next'; text: string } } }).createMachine(
  {
    id: 'light',
    context: { count: 0, last: '' },
    initial: 'green',
    states: {
      green: { on: { next: { target: 'yellow', actions: assign(({ context, event }) => ({ count: context.count + 1, last: event.text })) } } },
      yellow: { on: { next: { target: 'red', actions: assign(({ context, event }) => ({ count: context.count + 1, last: event.text })) } } },
      red: { on: { next: { target: 'green', actions: assign(({ context, event }) => ({ count: context.count + 1, last: event.text })) } } },
    },
  },
)

/** µs per event of a bare actor. */
export const plainEvents = (events: number): number => {
  const actor = createActor(light).start()
  const start = performance.now()
  for (let index = 0; index < events; index++) actor.send({ type: 'next', text: 'a short message' })
  return ((performance.now() - start) * 1000) / events
}

export const deltas = 100
const delta = 'word '
const usage = { inputTokens: 10, outputTokens: 100 }

const weather = tool({
  name: 'weather',
  description: 'tells the weather',
  input: z.object({ city: z.string() }),
  execute: () => 'sunny, 21 degrees',
  onCrash: 'retry',
})

/** A runtime whose model answers at once: 100 deltas, and a tool call before them where the message says `tool`. */
export const benchRuntime = (transport: string | Transport): Promise<Runtime> =>
  createRuntime({
    transport,
    agents: [agent({ name: 'main', model: 'bench/model', tools: [weather] })],
    models: {
      'bench/model': ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role === 'user' && last.text === 'tool') return { calls: [{ name: 'weather', input: { city: 'Oslo' } }], usage }
        return { chunks: Array.from({ length: deltas }, () => delta), usage }
      },
    },
  })

/** One turn, checked: every delta came, and the answer is whole. */
export const turn = async (runtime: Runtime, key: string, text: 'plain' | 'tool'): Promise<void> => {
  const run = await runtime.session(key).send(text)
  let count = 0
  for await (const { type } of run.events()) if (type === 'delta') count++
  const answer = await run.result()
  if (count !== deltas || answer.text.length !== deltas * delta.length) throw new Error(`${text}: ${count} deltas, ${answer.text.length} characters`)
}

export const sessionOfTurns = async (
  turns: number,
): Promise<{ transport: Transport; address: Address; registration: Registration; inputs: number }> => {
  const transport = await openMemory({ environment: systemEnvironment() })
  const runtime = await benchRuntime(transport)
  for (let index = 0; index < turns; index++) await turn(runtime, 'main', 'tool')
  const address = { kind: 'session', id: 'main' }
  const { inputs } = await runtime.replay(address)
  const registration = runtime.services.host.registration('session')
  runtime.services.host.abandon()
  return { transport, address, registration, inputs }
}
