/** A conversation that nobody wants any more. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decode, encode } from '../../src/actors/journal/codec.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { anEnvironment } from '../transport/harness.ts'
import { runProcess } from './processes.ts'
import { aFolder, aNode, start, statecast, stopNode, testApp, untilFile } from './run.ts'

test('a conversation is deleted without a node, and its name is free again', async () => {
  const how = { folder: aFolder() }
  await statecast(how, 'send', 'main', 'hello', '--app', testApp)
  await statecast(how, 'send', 'other', 'hello', '--app', testApp)

  const deleted = await statecast(how, 'delete', 'session/main', '--app', testApp)
  const again = await statecast(how, 'delete', 'main', '--app', testApp)
  const sessions = await statecast(how, 'sessions', '--json', '--app', testApp)

  expect(deleted).toMatchObject({ code: 0, stdout: 'the conversation main is deleted, with its journal\n', stderr: '' })
  expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining("there is no session 'main'") })
  expect(sessions.lines.map((line) => (JSON.parse(line) as { key: string }).key)).toEqual(['other'])
  expect(await statecast(how, 'delete', 'other', '--json', '--app', testApp)).toMatchObject({ code: 0, stdout: '{"deleted":"other"}\n' })
})

test('on a node it is refused while a turn runs, and nothing is lost', async () => {
  const how = { folder: aFolder() }
  await aNode(how, '--app', testApp)
  const sending = start(how, 'send', 'main', 'wait go')
  await untilFile(join(how.folder, 'go.started'))

  const refused = await statecast(how, 'delete', 'main')
  const machine = await statecast(how, 'delete', 'light/hall')
  writeFileSync(join(how.folder, 'go.go'), '')
  const sent = await sending.ended
  const deleted = await statecast(how, 'delete', 'main')

  expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/turn running \[session_busy\]\nhint: cancel the turn/) })
  expect(machine).toMatchObject({ code: 4, stderr: expect.stringContaining('[not_found]') })
  expect(sent).toMatchObject({ code: 0, stdout: 'wait_for_file: {"waited":"go"}\n' })
  expect(deleted.code).toBe(0)
  expect((await statecast(how, 'sessions')).stdout).toBe('')
})

test.each(['the next start', 'the next message'])(
  '[INV-13] a removal that was killed is finished by %s, and the key begins a new conversation',
  async (by) => {
    const how = { folder: aFolder() }
    await statecast(how, 'send', 'main', 'hello', '--app', testApp)
    const killed = await runProcess({ ...how, env: { STATECAST_FAILPOINTS: 'K21:1:kill' } }, 'delete', 'main', '--app', testApp)
    if (by === 'the next start') await stopNode(await aNode(how, '--app', testApp))

    const sessions = by === 'the next start' ? await statecast(how, 'sessions', '--app', testApp) : undefined
    const next = await statecast(how, 'send', 'main', 'new', '--app', testApp)
    const history = await statecast(how, 'history', 'main', '--app', testApp)

    expect(killed.code).toBe(null)
    expect(sessions?.stdout ?? '').toBe('')
    expect(next).toMatchObject({ code: 0, stdout: 'echo new\n' })
    expect(history.stdout).not.toContain('hello')
  },
)

/** A folder whose configuration was written by another machine, as an import could once do. */
const aFolderWithForeignConfiguration = async () => {
  const how = { folder: aFolder() }
  await statecast(how, 'send', 'main', 'hello', '--app', testApp)
  const { journal, close } = await openEmbedded({ folder: join(how.folder, '.statecast'), environment: anEnvironment() })
  const [first] = await journal.read({ kind: 'session', id: 'main' }, 1, { limit: 1 })
  const bytes = encode({ ...(decode(first!.bytes) as object), address: 'config/main' })
  await journal.append({ kind: 'config', id: 'main' }, 0, bytes, { wakeAt: null, at: 1 })
  await close()
  return how
}

test('a configuration that no node can read is deleted by command, as the error and the doctor say', async () => {
  const how = await aFolderWithForeignConfiguration()

  const refused = await statecast(how, 'up', '--port', '0', '--app', testApp)
  const doctor = await statecast(how, 'doctor', '--offline', '--app', testApp)
  const deleted = await statecast(how, 'delete', 'config/main', '--app', testApp)
  const again = await statecast(how, 'delete', 'config/main', '--app', testApp)
  await stopNode(await aNode(how, '--app', testApp))

  expect(refused.stderr).toMatch(/\[drift\]\nhint: .*statecast delete config\/main/)
  expect(doctor.stdout).toMatch(/config\/main cannot be woken.*\n.*statecast delete config\/main/)
  expect(deleted).toMatchObject({ code: 0, stdout: 'the actor config/main is deleted, with its journal\n' })
  expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining('there is no config/main') })
  expect((await statecast(how, 'history', 'main', '--app', testApp)).stdout).toContain('hello')
})
