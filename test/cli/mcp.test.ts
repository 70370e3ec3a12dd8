/** MCP servers of an app file, as a person on a terminal meets them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'
import { aFolder, statecast } from './run.ts'

const program = join(repository, 'test/support/mcp-program.ts')

const aFolderWith = (config: object): string => {
  const folder = aFolder()
  writeFileSync(join(folder, 'statecast.config.json'), JSON.stringify(config))
  return folder
}

test('doctor tells of each MCP server whether it answers, and how many tools it has', async () => {
  const folder = aFolderWith({
    agents: [{ name: 'main', tools: [], mcp: ['desk', 'gone'] }],
    mcp: {
      servers: { desk: { command: process.execPath, args: [program, 'new'] }, gone: { command: 'no-such-program' }, idle: { command: 'no-such' } },
    },
  })

  const { code, stdout } = await statecast({ folder }, 'doctor')

  expect(code).toBe(1)
  expect(stdout).toContain('ok    mcp: desk answers (2026-07-28) with 10 tools')
  expect(stdout).toMatch(/^BAD {3}mcp: gone does not answer: .*ENOENT, no-such-program\n {6}→ install it/m)
  expect(stdout).toMatch(/^warn {2}mcp: no agent uses idle\n/m)
})

test('an app file that names a server that is not there is refused, with the names that there are', async () => {
  const folder = aFolderWith({ agents: [{ name: 'main', mcp: ['githup'] }], mcp: { servers: { github: { command: 'x' } } } })

  const { code, stderr } = await statecast({ folder }, 'send', 'main', 'hello')

  expect(code).not.toBe(0)
  expect(stderr).toMatch(/there is no MCP server 'githup'[\s\S]*did you mean 'github'\?/)
})
