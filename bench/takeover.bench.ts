/** How long is a turn without a node, when its node is killed in the middle of it? From the kill to the first word of the node that goes on. */
import { setTimeout as pause } from 'node:timers/promises'
import { amount, goal, percentile, plainTable, rounds, show, type Table } from './measure.ts'
import { killNode, openClient, startNode } from './nats/cluster.ts'
import { startServer } from './nats/server.ts'
import { withFolder } from './workload.ts'

const sessions = amount(30)
const nodes = 3
/** After the last word that came. */
const quietMs = 2_000

const measure = (): Promise<number[]> =>
  withFolder(async (folder) => {
    const server = await startServer(folder)
    const running = await Promise.all(Array.from({ length: nodes }, () => startNode(server.url, { holds: true })))
    const client = await openClient(server.url)
    const took: number[] = []
    try {
      for (let round = 0; round < rounds(10); round++) {
        await client.balanced(nodes)
        const words = new Map<string, number>()
        const keys = Array.from({ length: sessions }, (_, index) => `r${round}-${index}`)
        for (const key of keys) client.hear(key, ({ type }) => void (type === 'delta' && words.set(key, performance.now())))
        await Promise.all(keys.map((key) => client.command('chat.send', { sessionKey: key, message: 'wait' })))
        while (words.size < sessions) await pause(10)
        words.clear()
        const [victim, ...others] = running
        if (!victim) throw new Error('no node is left')
        const killed = performance.now()
        await killNode(victim)
        for (let last = -1; words.size === 0 || words.size > last; last = words.size) await pause(quietMs)
        took.push(...[...words.values()].map((at) => at - killed))
        await Promise.all(keys.map((key) => client.command('chat.abort', { sessionKey: key })))
        running.splice(0, running.length, ...others, await startNode(server.url, { holds: true }))
      }
    } finally {
      await client.close()
      await Promise.all(running.map(killNode))
      await server.stop()
    }
    return took
  })

export const run = async (): Promise<Table[]> => {
  const took = await measure()
  const table = plainTable(
    `one of ${nodes} nodes is killed, ${rounds(10)} times, with ${sessions} turns under way: ${took.length} of them were its own`,
    'ms',
    [0.5, 0.9, 0.99, 1].map((share) => [share === 1 ? 'the slowest' : `p${share * 100}`, percentile(took, share)] as const),
    [goal('p99', percentile(took, 0.99), 'at most', 5_000, 'ms')],
  )
  show(table)
  return [table]
}

if (import.meta.main) await run()
