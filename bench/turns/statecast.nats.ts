/** Statecast on NATS as a contender: a node, and somebody with nothing but a connection who hears the answer. */
import { connect } from '@nats-io/transport-node'
import { startServer } from '../nats/server.ts'
import { benchRuntime, instantModel } from '../workload.ts'
import type { Open } from './contender.ts'

type Heard = { type: string; text?: string }

export const open: Open = async ({ deltas, delta }, { folder }) => {
  const server = await startServer(folder)
  const runtime = await benchRuntime({ transport: server.url }, instantModel(Array<string>(deltas).fill(delta)))
  const watcher = await connect({ servers: server.url })
  const listeners = new Map<string, (event: Heard) => void>()
  watcher.subscribe('statecast.out.session.>', {
    callback: (_, message) => {
      const [, , , name = '', type] = message.subject.split('.')
      if (type === 'delta' || type === 'final' || type === 'error') listeners.get(name)?.(message.json<Heard>())
    },
  })
  await watcher.flush()
  let sessions = 0
  return {
    talk: () => {
      const name = `talk-${sessions++}`
      const session = runtime.session(name)
      return {
        async say(message, heard) {
          const answer = Promise.withResolvers<string>()
          listeners.set(name, ({ type, text = '' }) => {
            if (type === 'delta') heard(text)
            else if (type === 'final') answer.resolve(text)
            else answer.reject(new Error('the turn failed'))
          })
          await session.command({ type: 'message', text: message })
          return answer.promise
        },
      }
    },
    close: async () => {
      await watcher.close()
      await runtime.close()
      await server.stop()
    },
  }
}
