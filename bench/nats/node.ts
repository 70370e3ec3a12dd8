/** A node of a benchmark in a process of its own. `NODE_URL` is its NATS, `NODE_PREFIX` its cluster; `NODE_HOLDS` makes its model say one word and then wait. */
import type { Model } from '../../src/index.ts'
import { benchRuntime, instantModel, usage } from '../workload.ts'

const holding: Model = {
  ref: 'bench/instant',
  call: async (_, { signal, onDelta }) => {
    onDelta({ kind: 'text', text: 'word' })
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    return { reasoning: '', usage, model: 'bench/instant', partial: true, text: 'word', calls: [], finish: 'other' }
  },
}

const transport = process.env.NODE_URL ?? ''
const runtime = await benchRuntime({ transport, prefix: process.env.NODE_PREFIX ?? 'statecast' }, process.env.NODE_HOLDS ? holding : instantModel())
process.send?.({ node: (await runtime.health()).node })
process.once('SIGTERM', () => void runtime.drain().then(() => process.exit(0)))
process.once('disconnect', () => process.exit(0))
