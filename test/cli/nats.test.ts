/** A node on NATS, and commands of other processes that find it there. */
import { expect, test } from 'vitest'
import { natsForAll } from '../support/nats.ts'
import { aFolder, aNode, statecast, stopped, testApp } from './run.ts'

const server = natsForAll()

test('commands find the node by the address of its NATS', { timeout: 60_000 }, async () => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }
  const node = await aNode(how, '--app', testApp)

  const sent = await statecast(how, 'send', 'main', 'hello')
  const sessions = await statecast(how, 'sessions')
  const missing = await statecast(how, 'history', 'nobody')
  await stopped(node)

  expect(sent).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(sessions.stdout).toMatch(/^main +awaiting-input/m)
  expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('not_found') })
  expect((await node.ended).code).toBe(0)
})

test('without a node a command talks to the session itself', { timeout: 60_000 }, async () => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }

  expect(await statecast(how, 'send', 'alone', 'hello', '--app', testApp)).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(await statecast(how, 'history', 'alone', '--app', testApp)).toMatchObject({ code: 0, stdout: expect.stringContaining('echo hello') })
})
