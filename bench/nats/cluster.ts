/** Nodes in processes of their own, and a client of theirs that holds nothing but a connection. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node'
import type { NodeRow } from '../../src/cluster/cluster.ts'

export type BenchNode = { id: string; process: ChildProcess }

export const startNode = async (url: string, { holds = false, prefix = 'statecast' } = {}): Promise<BenchNode> => {
  const child = fork(fileURLToPath(new URL('node.ts', import.meta.url)), [], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_URL: url, NODE_PREFIX: prefix, ...(holds ? { NODE_HOLDS: '1' } : {}) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ node }] = (await once(child, 'message')) as [{ node: string }]
  return { id: node, process: child }
}

export const killNode = async ({ process: child }: BenchNode): Promise<void> => {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export type Out = { type: string; text?: string; runId?: string }

export type BenchClient = {
  command<Answer>(name: string, input: object): Promise<Answer>
  /** What a session says from now on, and the node that says it. */
  hear(key: string, listener: (event: Out, node: string) => void): void
  /** Waits until so many nodes share the partitions about alike. */
  balanced(nodes: number): Promise<NodeRow[]>
  close(): Promise<void>
}

const answerMs = 30_000

export const openClient = async (url: string, prefix = 'statecast'): Promise<BenchClient> => {
  const nc: NatsConnection = await connect({ servers: url })
  const listeners = new Map<string, (event: Out, node: string) => void>()
  nc.subscribe(`${prefix}.out.session.>`, {
    callback: (_, message) => listeners.get(message.subject.split('.')[3] ?? '')?.(message.json<Out>(), message.headers?.get('Statecast-Node') ?? ''),
  })
  await nc.flush()
  /** A node that dies takes the questions along that it was to answer. */
  const request = (name: string, data: string, attempts = 3): Promise<Msg> =>
    nc.request(`${prefix}.api.${name}`, data, { timeout: answerMs }).catch((error: unknown) => {
      if (attempts <= 1) throw error
      console.error(`${name} was not answered within ${answerMs / 1000} s, and is asked again`)
      return request(name, data, attempts - 1)
    })
  const command = async <Answer>(name: string, input: object): Promise<Answer> => {
    const answer = await request(name, JSON.stringify(input))
    if (answer.headers?.has('Nats-Service-Error')) throw new Error(answer.headers.get('Nats-Service-Error'))
    return answer.json<Answer>()
  }
  return {
    command,
    hear: (key, listener) => void listeners.set(key, listener),
    async balanced(count) {
      for (;;) {
        const { nodes } = await command<{ nodes: NodeRow[] }>('nodes.list', {}).catch(() => ({ nodes: [] }))
        const shares = nodes.map(({ partitions }) => partitions)
        if (nodes.length === count && shares.reduce((sum, share) => sum + share, 0) === 64 && Math.min(...shares) > 64 / count / 3) return nodes
        await pause(50)
      }
    },
    close: () => nc.close(),
  }
}
