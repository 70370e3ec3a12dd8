/** What does a durable turn cost, on disk and synced, beside the bare appends that it needs? */
import type { Transport } from '../src/contracts/transport.ts'
import { systemEnvironment } from '../src/runtime/system-environment.ts'
import { openEmbedded } from '../src/transport/embedded/open.ts'
import { openMemory } from '../src/transport/memory/open.ts'
import { amount, ask, median, type Table } from './measure.ts'
import { benchRuntime, turn, withFolder } from './workload.ts'

const turns = amount(200)

/** Commits of one turn with their sizes, read from a journal that a turn has written. */
const commitsOf = async (text: 'plain' | 'tool'): Promise<number[]> => {
  const transport = await openMemory({ environment: systemEnvironment() })
  const runtime = await benchRuntime({ transport })
  await turn(runtime, 'one', text)
  await turn(runtime, 'one', text)
  const first = text === 'plain' ? 2 : 4
  const frames = await transport.journal.read({ kind: 'session', id: 'one' }, first + 1)
  await runtime.close()
  return frames.map(({ bytes }) => bytes.length)
}

/** µs for one turn after another, each in a session of its own. */
const turnsOn = (transport: Transport, text: 'plain' | 'tool') => {
  let session = 0
  return async (): Promise<number> => {
    const runtime = await benchRuntime({ transport })
    const took: number[] = []
    for (let index = 0; index < turns; index++) {
      const start = performance.now()
      await turn(runtime, `${text}-${session++}`, text)
      took.push((performance.now() - start) * 1000)
    }
    await runtime.close()
    return median(took)
  }
}

/** µs for the same number of appends of the same sizes, one waiting for the other. */
const bareAppends = ({ journal }: Transport, sizes: number[]) => {
  let root = 0
  return async (): Promise<number> => {
    const took: number[] = []
    for (let index = 0; index < turns; index++) {
      const address = { kind: 'bare', id: String(root++) }
      const start = performance.now()
      for (const [seq, size] of sizes.entries()) await journal.append(address, seq, new Uint8Array(size), { wakeAt: null, at: 0 })
      took.push((performance.now() - start) * 1000)
    }
    return median(took)
  }
}

export const run = (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const environment = systemEnvironment()
    const disk = await openEmbedded({ folder, environment })
    const memory = await openMemory({ environment })
    const tables: Table[] = []
    for (const text of ['plain', 'tool'] as const) {
      const sizes = await commitsOf(text)
      tables.push(
        await ask({
          title: `a durable ${text} turn of 100 deltas: ${sizes.length} commits of ${sizes.join(', ')} bytes`,
          unit: 'µs per turn, p50',
          contenders: [
            { name: 'floor: the bare appends, on disk and synced', round: bareAppends(disk, sizes) },
            { name: 'statecast, on disk and synced', round: turnsOn(disk, text) },
            { name: 'statecast, in memory', round: turnsOn(memory, text) },
          ],
        }),
      )
    }
    await disk.close()
    await memory.close()
    return tables
  })

if (import.meta.main) await run()
