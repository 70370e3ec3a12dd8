/** What the log of a node says of the others: who came, who went and how, and which partitions changed hands. */
import { expect, test, vi } from 'vitest'
import type { Environment } from '../../src/contracts/environment.ts'
import { createRuntime, type Runtime } from '../../src/index.ts'
import { createMemoryStore, openMemory } from '../../src/transport/memory/open.ts'
import { anEnvironment } from '../transport/harness.ts'

type Line = ReturnType<typeof anEnvironment>['lines'][number]

/** Nodes that share one store, each with a log of its own. */
const cluster = () => {
  const store = createMemoryStore()
  return async (): Promise<{ runtime: Runtime; name: string; lines: Line[] }> => {
    const { lines, ...environment } = anEnvironment()
    const shared = environment as unknown as Environment
    const runtime = await createRuntime({
      transport: await openMemory({ environment: shared, store, shared: true }),
      environment: { log: environment.log },
    })
    return { runtime, name: String((await runtime.health()).node), lines }
  }
}
const has = (lines: Line[], message: string, fields: object = {}) =>
  vi.waitFor(() =>
    expect(lines.filter((line) => line.message === message).map((line) => line.fields)).toContainEqual(expect.objectContaining(fields)),
  )

test('the log of one node tells the story of its cluster', async () => {
  const join = cluster()
  const a = await join()
  await has(a.lines, 'this node took over partitions', { partitions: 64, from: { nobody: 64 }, holds: 64, node: a.name })

  const b = await join()
  await has(a.lines, 'a node joined', { peer: b.name, nodes: 2 })
  await has(b.lines, 'this node took over partitions')
  const taken = b.lines.find(({ message }) => message === 'this node took over partitions')?.fields as { partitions: number }
  await has(a.lines, 'this node handed partitions over', { to: { [b.name]: taken.partitions }, holds: 64 - taken.partitions })

  await b.runtime.drain()
  expect(b.lines.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['the runtime started', 'draining: running turns may finish, no new work is taken', 'drained', 'the runtime closed']),
  )
  await b.runtime.drain() // as `up` does when another process has drained its node
  expect(b.lines.filter(({ message }) => message === 'drained')).toHaveLength(1)
  expect(b.lines.at(-1)?.message).toBe('the runtime closed')
  await has(a.lines, 'a node is draining', { peer: b.name })
  await has(a.lines, 'a node left', { peer: b.name, nodes: 1 })
  await has(a.lines, 'this node took over partitions', { partitions: taken.partitions, from: { [b.name]: taken.partitions }, holds: 64 })

  const c = await join()
  await has(a.lines, 'this node handed partitions over', { to: { [c.name]: expect.any(Number) } })
  await c.runtime.close()
  await has(a.lines, 'a node is gone without draining: its process died, was stopped at once or cannot reach NATS', { peer: c.name, nodes: 1 })
  expect(a.lines.filter(({ level }) => level === 'error')).toEqual([])
  await a.runtime.close()
})

test('every line of a node names it, and one of a runtime by itself does not', async () => {
  const { lines, ...environment } = anEnvironment()
  await (await createRuntime({ transport: 'memory:', environment })).close()

  expect(lines.map(({ message }) => message)).toEqual(['the runtime started', 'the runtime closed'])
  expect(lines[0]?.fields).toMatchObject({ version: expect.any(String), transport: 'memory', agents: ['main'] })
  expect(lines[0]?.fields).not.toHaveProperty('node')
})
