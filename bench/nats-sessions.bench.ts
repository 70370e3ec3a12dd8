/** What does a session leave on a NATS server, after one plain turn? */
import { readFileSync } from 'node:fs'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { amount, plainTable, show, type Table } from './measure.ts'
import { startServer } from './nats/server.ts'
import { benchRuntime, turn, withFolder } from './workload.ts'

const sessions = amount(10_000)
const atOnce = 100

const rssOf = (pid: number): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

export const run = async (): Promise<Table[]> =>
  withFolder(async (folder) => {
    const server = await startServer(folder)
    const runtime = await benchRuntime({ transport: server.url })
    const nc = await connect({ servers: server.url })
    const jsm = await jetstreamManager(nc)
    const streams = ['STATECAST_JOURNAL', 'STATECAST_SNAPSHOTS', 'STATECAST_WAKES', 'STATECAST_INBOX', 'KV_STATECAST_REGISTRY']
    const state = async () => Promise.all(streams.map(async (name) => (await jsm.streams.info(name)).state))
    const before = { states: await state(), rss: rssOf(server.pid), heap: process.memoryUsage().rss }
    const start = performance.now()
    for (let done = 0; done < sessions; done += atOnce)
      await Promise.all(Array.from({ length: Math.min(atOnce, sessions - done) }, (_, index) => turn(runtime, `s${done + index}`, 'plain')))
    const seconds = (performance.now() - start) / 1000
    const after = await state()
    const each = (index: number, key: 'bytes' | 'messages') => ((after[index]?.[key] ?? 0) - (before.states[index]?.[key] ?? 0)) / sessions
    const tables = [
      plainTable(`a session after one plain turn, of ${sessions.toLocaleString('en')}`, 'bytes a session', [
        ...streams.map((name, index) => [name, each(index, 'bytes')] as const),
        ['memory of the server', (rssOf(server.pid) - before.rss) / sessions],
      ]),
      plainTable(
        'the same in messages',
        'messages a session',
        streams.map((name, index) => [name, each(index, 'messages')] as const),
      ),
      plainTable(`${atOnce} new sessions at once, until all have had their turn`, 'sessions/s', [['one node', sessions / seconds]]),
    ]
    tables.forEach(show)
    await nc.close()
    await runtime.close()
    await server.stop()
    return tables
  })

if (import.meta.main) await run()
