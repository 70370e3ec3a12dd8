/** Who was set aside, and how it is taken into service again. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../tidy/sources.ts'
import { aFolder, aNode, rpc, statecast, stopNode, tell } from './run.ts'

const app = join(repository, 'test/cli/fixtures/mail.ts')

test('an actor that kept failing is named with the command that revives it, and goes on once the cause is mended', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', app)
  await tell(node, 'letter', 'l', { type: 'send' }).catch(() => undefined)
  await expect.poll(() => rpc(node, 'actors.list')).toContain('"quarantine"')

  const doctor = await statecast({ folder }, 'doctor', '--offline')
  const trace = await statecast({ folder }, 'trace', 'letter/l')
  writeFileSync(join(folder, 'mail.up'), '')
  const revived = await statecast({ folder }, 'revive', 'letter/l')
  const again = await statecast({ folder }, 'revive', 'letter/l', '--json')
  const actors = await statecast({ folder }, 'actors')
  const nobody = await statecast({ folder }, 'revive', 'letter/other')

  expect(doctor.stdout).toContain('then statecast revive letter/l')
  expect(trace.stderr).toContain('statecast revive letter/l')
  expect(revived).toMatchObject({ code: 0, stdout: 'letter/l is in service again\n' })
  expect(again.stdout).toBe('{"actor":"letter/l","revived":false}\n')
  expect(actors.stdout).toMatch(/^letter\/l +sent /m)
  expect(nobody).toMatchObject({ code: 4, stderr: expect.stringContaining('statecast actors --kind letter') })
})

test('one that is still being restarted is waited for, and what is said is what was done', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', app)
  await tell(node, 'letter', 'l', { type: 'send' }).catch(() => undefined)

  const revived = await statecast({ folder }, 'revive', 'letter/l')
  const trace = await statecast({ folder }, 'trace', 'letter/l')

  expect(revived).toMatchObject({ code: 0, stdout: 'letter/l is in service again\n' })
  expect(trace.stdout).toMatch(/quarantined[\s\S]* revived/)
})

test('without a node too; a conversation is named by its key', async () => {
  const folder = aFolder()
  const node = await aNode({ folder }, '--app', app)
  await tell(node, 'letter', 'l', { type: 'send' }).catch(() => undefined)
  await expect.poll(() => rpc(node, 'actors.list')).toContain('"quarantine"')
  await stopNode(node)
  writeFileSync(join(folder, 'mail.up'), '')
  await statecast({ folder }, 'send', 'main', '1+1')

  const revived = await statecast({ folder }, 'revive', 'letter/l', '--app', app)
  const fine = await statecast({ folder }, 'revive', 'main')
  const unregistered = await statecast({ folder }, 'replay', 'letter/l')

  expect(revived).toMatchObject({ code: 0, stdout: 'letter/l is in service again\n' })
  expect((await statecast({ folder }, 'actors', '--app', app)).stdout).toMatch(/^letter\/l +sent /m)
  expect(fine).toMatchObject({ code: 0, stdout: 'session/main was not quarantined: nothing to do\n' })
  expect(unregistered).toMatchObject({ code: 4, stderr: expect.stringMatching(/hint: register it .*statecast\.config\.ts.*--app/) })
})
