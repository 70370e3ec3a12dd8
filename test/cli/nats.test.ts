/** A node on NATS, and commands of other processes that find it there. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import { natsForAll } from '../support/nats.ts'
import { aFolder, aNode, start, statecast, stopNode, testApp, untilFile } from './run.ts'

const server = natsForAll()

test('commands find the node by the address of its NATS', async () => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }
  const node = await aNode(how, '--app', testApp)

  const sent = await statecast(how, 'send', 'main', 'hello')
  const sessions = await statecast(how, 'sessions')
  const missing = await statecast(how, 'history', 'nobody')
  await stopNode(node)

  expect(sent).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(sessions.stdout).toMatch(/^main +awaiting-input/m)
  expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('not_found') })
  expect((await node.ended).code).toBe(0)
})

test('without a node a command talks to the session itself', async () => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }

  expect(await statecast(how, 'send', 'alone', 'hello', '--app', testApp)).toMatchObject({ code: 0, stdout: 'echo hello\n' })
  expect(await statecast(how, 'history', 'alone', '--app', testApp)).toMatchObject({ code: 0, stdout: expect.stringContaining('echo hello') })
})

test('what is no event is passed over quietly, whoever says it where events are said', async () => {
  const how = { folder: aFolder(), env: { STATECAST_URL: server.url } }
  await aNode(how, '--app', testApp)
  const nc = await connect({ servers: server.url })
  onTestFinished(() => nc.close())
  const sending = start(how, 'send', 'noise', 'wait go')
  await untilFile(join(how.folder, 'go.started'))

  for (const said of ['', 'no json', 'null', '1', '[]', '{}', '{"type":1}', '{"type":"final","ids":7}', '\u001b[31mred', '"text"'])
    nc.publish('statecast.out.session.noise.final', said)
  await nc.flush()
  writeFileSync(join(how.folder, 'go.go'), '')

  const { code, stdout, stderr } = await sending.ended
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'wait_for_file: {"waited":"go"}\n' })
  expect(stderr).not.toMatch(/"level"|threw|error|red/)
})
