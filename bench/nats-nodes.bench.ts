/** How many tool turns a second do one, two and three node processes answer, beside one nats-server on the same machine? */
import { cpus } from 'node:os'
import { amount, ask, type Table } from './measure.ts'
import { type BenchClient, killNode, openClient, startNode } from './nats/cluster.ts'
import { startServer } from './nats/server.ts'
import { withFolder } from './workload.ts'

const sessions = amount(200)
const each = 5
let count = 0

/** One turn, from the command to the answer as it is heard. */
const turn = (client: BenchClient, key: string): Promise<void> =>
  new Promise((resolve, reject) => {
    client.hear(key, ({ type }) => {
      if (type === 'final') resolve()
      else if (type === 'error') reject(new Error(`a turn of ${key} failed`))
    })
    client.command('chat.send', { sessionKey: key, message: 'tool' }).catch(reject)
  })

const perSecond = async (client: BenchClient): Promise<number> => {
  const keys = Array.from({ length: sessions }, () => `s${count++}`)
  const start = performance.now()
  await Promise.all(
    keys.map(async (key) => {
      for (let index = 0; index < each; index++) await turn(client, key)
    }),
  )
  return (sessions * each * 1000) / (performance.now() - start)
}

const withNodes = (nodes: number) => (): Promise<number> =>
  withFolder(async (folder) => {
    const server = await startServer(folder)
    const running = []
    for (let index = 0; index < nodes; index++) running.push(await startNode(server.url))
    const client = await openClient(server.url)
    try {
      await client.balanced(nodes)
      // The first turns compile the code.
      await perSecond(client)
      return await perSecond(client)
    } finally {
      await client.close()
      await Promise.all(running.map(killNode))
      await server.stop()
    }
  })

export const run = async (): Promise<Table[]> => [
  await ask({
    title: `${sessions} sessions at once, ${each} tool turns each, asked and heard over NATS`,
    unit: 'turns/s',
    rounds: 3,
    contenders: [
      { name: 'one node', round: withNodes(1) },
      { name: 'two nodes', round: withNodes(2) },
      { name: 'three nodes', round: withNodes(3) },
    ],
    note: `Server, nodes and client share the ${cpus().length} cores of one machine: this shows what sharing costs, and not what more machines bring.`,
  }),
]

if (import.meta.main) await run()
