/**
 * The least that a turn on NATS can cost: a bare XState actor, as many compare-and-appends to JetStream as a durable turn needs commits, and deltas to a
 * second connection, one message for what comes in one turn of the event loop.
 */
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { pack, unpack } from 'msgpackr'
import { createActor } from 'xstate'
import { startServer } from '../nats/server.ts'
import type { Open } from './contender.ts'
import { playTurn, turnSteps } from './floor.ts'

export const open: Open = async (script, { folder }) => {
  const server = await startServer(folder)
  const [node, watcher] = await Promise.all([connect({ servers: server.url }), connect({ servers: server.url })])
  const js = jetstream(node)
  await (await jetstreamManager(node)).streams.add({ name: 'LOG', subjects: ['log.>'], allow_direct: true })
  const listeners = new Map<string, (pieces: string[]) => void>()
  watcher.subscribe('deltas.*', { callback: (_, { subject, data }) => listeners.get(subject.slice('deltas.'.length))?.(unpack(data) as string[]) })
  await watcher.flush()
  let talks = 0
  return {
    talk: () => {
      const name = `talk-${talks++}`
      const actor = createActor(turnSteps).start()
      let place = 0
      const append = async (entry: object): Promise<void> => {
        const { seq } = await js.publish(`log.${name}`, pack({ at: Date.now(), ...entry }), {
          expect: { lastSubjectSequence: place },
          timeout: 30_000,
        })
        place = seq
      }
      let waiting: string[] = []
      const publish = (piece: string): void => {
        if (waiting.push(piece) > 1) return
        setImmediate(() => {
          node.publish(`deltas.${name}`, pack(waiting))
          waiting = []
        })
      }
      return {
        async say(message, heard) {
          const all = Promise.withResolvers<void>()
          let missing: number = script.deltas
          listeners.set(name, (pieces) => {
            pieces.forEach(heard)
            missing -= pieces.length
            if (missing === 0) all.resolve()
          })
          const text = await playTurn(actor, { message, script, append, heard: publish })
          await all.promise
          return text
        },
      }
    },
    close: async () => {
      await Promise.all([node.close(), watcher.close()])
      await server.stop()
    },
  }
}
