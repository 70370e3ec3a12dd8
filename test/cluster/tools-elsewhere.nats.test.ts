/** What `tools.list` says where several nodes share the conversations: each finds services in its own time. */

import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, createRuntime, type Runtime, tool } from '../../src/index.ts'
import { serveTools } from '../../src/nats.ts'
import { partsOf } from '../../src/runtime/index.ts'
import { closedAfterEach } from '../support/kept.ts'
import { natsForAll } from '../support/nats.ts'
import { obedientModel } from '../support/obedient-model.ts'
import { anEnvironment } from '../transport/harness.ts'

const server = natsForAll()
const kept = closedAfterEach()

let count = 0
const node = async (services: true | string[]): Promise<Runtime> =>
  kept(
    await createRuntime({
      transport: server.url,
      prefix: `listed-${count}`,
      agents: [agent({ name: 'main', model: 'test/model', services })],
      models: { 'test/model': obedientModel },
    }),
  )
const two = async (others: true | string[] = true): Promise<[Runtime, Runtime]> => {
  count++
  const nodes: [Runtime, Runtime] = [await node(true), await node(others)]
  for (const one of nodes) await vi.waitFor(() => expect(one.nodes()).toHaveLength(2))
  return nodes
}
const toolsOf = (runtime: Runtime) => partsOf(runtime).agents.get('main')!.tools
/** A service begins, and this node is the first to look. */
const begin = async (name: string, finder: Runtime): Promise<void> => {
  const made = tool({ name, description: 'does', input: z.object({}), onCrash: 'retry', execute: () => 'done' })
  kept(await serveTools(server.url, { name: 'works', tools: [made], prefix: `listed-${count}`, environment: { log: anEnvironment().log } }))
  await toolsOf(finder).discover?.([name])
  expect(toolsOf(finder).names).toContain(name)
}
type Listed = { agents: { tools: { name: string; missingOn?: string[] }[] }[] }
const list = async (runtime: Runtime) => (await runtime.command<Listed>('tools.list', {})).agents[0]!.tools

test('what one node lists all nodes have, however lately it has begun', async () => {
  const [first, second] = await two()

  // Each looks every few seconds by itself: three in a row are no luck.
  for (const name of ['one', 'two', 'three']) {
    await begin(name, first)
    const listed = await list(first)
    const there = toolsOf(second).names

    expect(listed.map((one) => one.name)).toContain(name)
    expect(listed.find((one) => one.name === name)).not.toHaveProperty('missingOn')
    expect(there).toContain(name)
  }
})

test('a node whose app may not use a tool is named beside it; one that has no answer is not', async () => {
  const [first, second] = await two(['other_*'])
  await begin('here_only', first)

  const listed = await list(first)

  expect(listed.find(({ name }) => name === 'here_only')).toMatchObject({ missingOn: [second.nodes().find(({ id }) => id !== nameOf(first))!.id] })
})

const nameOf = (runtime: Runtime): string => runtime.nodes().find(({ since }) => since === Math.min(...runtime.nodes().map((one) => one.since)))!.id
