/** What importing Statecast loads: each process of a user and each worker of a test pays for it. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { repository } from './tidy/sources.ts'

const run = promisify(execFile)
const entries = ['src/index.ts', 'src/ladder/index.ts', 'src/client/index.ts', 'src/testing/index.ts', 'src/cli/main.ts', 'src/chat.ts']

test('no entry point loads the layout of charts, a provider of the AI SDK, MCP, proxies or the parser of YAML before it is used', async () => {
  const { stdout } = await run(process.execPath, [join(repository, 'test/support/loaded-packages.ts'), ...entries])
  const packages = JSON.parse(stdout) as string[]

  expect(packages).toContain('xstate')
  expect(
    packages.filter((name) => /^(?:elkjs|ai|@ai-sdk\/.*|@modelcontextprotocol\/.*|@opentelemetry\/.*|@nats-io\/.*|undici|yaml)$/.test(name)),
  ).toEqual([])
})
