/** `statecast config` and `statecast token`, in a folder without a node and against one. */
import { expect, test } from 'vitest'
import { aFolder, aNode, statecast, testApp } from './run.ts'

test('[CH-27] config says what holds and where it comes from, and set changes it for later commands; a bad value is refused by name', async () => {
  const folder = aFolder()
  const run = (...args: string[]) => statecast({ folder }, '--app', testApp, ...args)

  expect((await run('config', 'set', 'session.historyMax', '50')).stdout).toContain('session.historyMax is 50')
  expect((await run('config', 'get', 'session.historyMax')).stdout.trim()).toBe('50')
  const refused = await run('config', 'set', 'session.historyMax', 'many')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('session.historyMax')])
  expect((await run('config')).lines.find((line) => line.startsWith('session.historyMax'))).toMatch(/50\s+config/)
})

test('[CH-27] a model without its key is set all the same, with a warning that names the key', async () => {
  const folder = aFolder()
  const set = (model: string) => statecast({ folder }, '--app', testApp, 'config', 'set', 'agents.defaults.model', model)

  const lacking = await set('anthropic/claude-sonnet-5-5')
  const fine = await set('test/echo')

  expect(lacking).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('agents.defaults.model is "anthropic/'),
    stderr: expect.stringMatching(/warning: .*ANTHROPIC_API_KEY/),
  })
  expect(fine).toMatchObject({ code: 0, stderr: '' })
})

test('[INV-19] a token is made, listed and revoked at the command line, and opens the node that runs there', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', testApp)
  const run = (...args: string[]) => statecast({ folder }, ...args)
  const made = await run('token', 'create', '--name', 'page', '--scopes', 'read', '--sessions', 'agent:main:web:*', '--expires', '30d')
  const token = made.stdout.trim()
  const list = () => fetch(`${node.url}/rpc/sessions.list`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })

  expect(token).toMatch(/^sct_/)
  expect((await list()).status).toBe(200)
  expect((await run('token', 'list')).stdout).toMatch(/page\s+\w+\s+read\s+agent:main:web:\*/)
  expect((await run('token', 'revoke', 'page')).code).toBe(0)
  expect((await list()).status).toBe(401)
})
