import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { mcpServers } from '../../src/tools/mcp/servers.ts'
import { serviceDirectory } from '../../src/tools/services/directory.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { virtualClock } from '../models/fixtures.ts'
import { anEnvironment } from '../transport/harness.ts'
import { aService } from './services/fixtures.ts'
import { describeSource } from './source.contract.ts'

const schema = { type: 'object', properties: { text: { type: 'string' } } }

describeSource('services on the bus', async () => {
  const clock = virtualClock()
  const environment = anEnvironment({ clock })
  const { bus, close } = await openMemory({ environment })
  const services = ['echo_a', 'echo_b'].map((name) =>
    aService(bus, { name, id: name, subject: `echo.${name}`, endpoint: name, metadata: { schema: JSON.stringify(schema), description: 'repeats' } }),
  )
  const directory = serviceDirectory(environment, 'statecast')
  const source = directory.toolsFor(true)
  directory.start(bus)
  onTestFinished(async () => {
    directory.stop()
    await close()
  })
  return {
    source,
    names: ['echo_a', 'echo_b'],
    other: 'echo_c',
    until: (promise) => clock.until(promise),
    end: async () => {
      for (const service of services) service.kill()
      while (source.offered().size > 0) await clock.advance(1_000)
    },
  }
})

describeSource('MCP servers', async () => {
  const program = fileURLToPath(new URL('../support/hostile-mcp-program.ts', import.meta.url))
  const servers = mcpServers(
    { servers: { echo: { command: execPath, args: [program, 'echoes'] } } },
    { environment: anEnvironment(), env: process.env, version: '1' },
  )
  onTestFinished(() => servers.close())
  const source = servers.toolsFor('main', true)
  if (source === undefined) throw new Error('there is a server')
  return { source, names: ['echo__a', 'echo__b'], other: 'echo__c', until: (promise) => promise, end: () => servers.close() }
})
