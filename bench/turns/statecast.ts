/** Statecast as a contender, through its public interface. */
import { join } from 'node:path'
import { benchRuntime, instantModel } from '../workload.ts'
import type { Open } from './contender.ts'

export const open: Open = async ({ deltas, delta }, { variant, folder }) => {
  const transport = variant === 'disk' ? `embedded:${join(folder, 'store')}` : 'memory:'
  const runtime = await benchRuntime({ transport }, instantModel(Array<string>(deltas).fill(delta)))
  let sessions = 0
  return {
    talk: () => {
      const session = runtime.session(`talk-${sessions++}`)
      return {
        async say(message, heard) {
          const run = await session.send(message)
          for await (const event of run.events()) if (event.type === 'delta') heard(event.text)
          return (await run.result()).text
        },
      }
    },
    close: () => runtime.close(),
  }
}
