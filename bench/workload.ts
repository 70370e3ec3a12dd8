/** Machines, models and sessions that several benchmarks share. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assign, createActor, setup } from 'xstate'
import { z } from 'zod'
import type { Registration } from '../src/actors/registration.ts'
import type { Address } from '../src/contracts/subjects.ts'
import type { Transport } from '../src/contracts/transport.ts'
import { agent, createRuntime, type Model, type Runtime, type RuntimeOptions, tool } from '../src/index.ts'
import { partsOf } from '../src/runtime/index.ts'
import { systemEnvironment } from '../src/runtime/system-environment.ts'
import { openMemory } from '../src/transport/memory/open.ts'
import { delta, deltas, instantModel, script } from './script.ts'

export * from './script.ts'

// ---- a small machine

type LightContext = { count: number; last: string }
type LightEvent = { type: 'next'; text: string }

const lightSetup = setup({
  types: { context: {} as LightContext, events: {} as LightEvent },
  actions: { note: assign(({ context, event }) => ({ count: context.count + 1, last: event.text })) },
})
const goTo = (target: string) => ({ on: { next: { target, actions: 'note' } } }) as const

export const light = lightSetup.createMachine({
  id: 'light',
  context: { count: 0, last: '' },
  initial: 'green',
  states: { green: goTo('yellow'), yellow: goTo('red'), red: goTo('green') },
})

/** µs per event of a bare actor. */
export const plainEvents = (events: number): number => {
  const actor = createActor(light).start()
  const start = performance.now()
  for (let index = 0; index < events; index++) actor.send({ type: 'next', text: 'a short message' })
  return ((performance.now() - start) * 1000) / events
}

// ---- turns

export const weather = tool({
  name: script.tool.name,
  description: script.tool.description,
  input: z.object({ city: z.string() }),
  execute: () => script.tool.output,
  onCrash: 'retry',
})

/** A runtime whose one agent is answered by {@link instantModel}, or by another one. */
export const benchRuntime = (
  options: Pick<RuntimeOptions, 'transport' | 'limits' | 'resume' | 'prefix'>,
  model: Model = instantModel(),
): Promise<Runtime> =>
  createRuntime({
    ...options,
    agents: [agent({ name: 'main', model: 'bench/instant', tools: [weather], limits: { modelCall: { outputCharsMax: 50_000_000 } } })],
    models: { 'bench/instant': model },
  })

/** One turn, checked: every delta came, and the answer is whole. */
export const turn = async (runtime: Runtime, key: string, text: string, wanted = deltas * delta.length): Promise<void> => {
  const run = await runtime.session(key).send(text)
  let heard = 0
  for await (const event of run.events()) if (event.type === 'delta') heard += event.text.length
  const answer = await run.result()
  if (heard !== wanted || answer.text.length !== wanted)
    throw new Error(`${text}: heard ${heard}, answered ${answer.text.length} of ${wanted} characters`)
}

export const sessionOfTurns = async (
  turns: number,
): Promise<{ transport: Transport; address: Address; registration: Registration; inputs: number }> => {
  const transport = await openMemory({ environment: systemEnvironment() })
  const runtime = await benchRuntime({ transport })
  for (let index = 0; index < turns; index++) await turn(runtime, 'main', 'tool')
  const address = { kind: 'session', id: 'main' }
  const { inputs } = await runtime.replay(address)
  const registration = partsOf(runtime).host.registration('session')
  partsOf(runtime).host.abandon()
  return { transport, address, registration, inputs }
}

/** Does something with a new folder and takes it away again, also when the process exits in the middle. */
export const withFolder = async <T>(work: (folder: string) => Promise<T>, parent = tmpdir()): Promise<T> => {
  const folder = mkdtempSync(join(parent, 'statecast-bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    return await work(folder)
  } finally {
    process.off('exit', remove)
    remove()
  }
}
