/** Files from the terminal: sent with a message, kept with one that waits, and carried along when a conversation travels. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFolder, aNode, statecast } from './run.ts'

test('[CH-10] files go with a message, and with the conversation to another folder', async () => {
  const from = { folder: aFolder() }
  writeFileSync(join(from.folder, 'notes.txt'), 'my notes')
  writeFileSync(join(from.folder, 'data.csv'), 'a,b')
  writeFileSync(join(from.folder, 'all.zip'), Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]))

  const sent = await statecast(from, 'send', 'main', '', '--file', 'notes.txt', '--file', 'data.csv')
  const refused = await statecast(from, 'send', 'main', 'look', '--file', 'all.zip')
  const missing = await statecast(from, 'send', 'main', 'look', '--file', 'nowhere.txt')

  expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('I got the file "notes.txt" (text/plain, 8 bytes).') })
  expect(sent.stdout).toContain('data.csv')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('all.zip') })
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.txt cannot be read') })
  expect((await statecast(from, 'history', 'main')).stdout).toContain('"notes.txt" (text/plain, 8 bytes)')

  const exported = await statecast(from, 'export', 'main')
  const to = { folder: aFolder() }
  writeFileSync(join(to.folder, 'main.journal'), exported.stdout)
  expect(await statecast(to, 'import', 'main.journal')).toMatchObject({ code: 0 })
  const listed = exported.stdout.split('\n').filter((line) => line.startsWith('{"file"'))
  expect(listed).toHaveLength(2)
  expect(await statecast(to, 'send', 'main', 'and now?')).toMatchObject({ code: 0 })
  expect((await statecast(to, 'history', 'main')).stdout).toContain('data.csv')
  writeFileSync(join(to.folder, 'broken.journal'), exported.stdout.replace('bXkgbm90ZXM=', 'bXkgbm90ZXQ='))
  expect(await statecast({ folder: aFolder() }, 'import', join(to.folder, 'broken.journal'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('notes.txt'),
  })
})

test('[CH-10] a message that waits for a node keeps its files', async () => {
  const how = { folder: aFolder() }
  writeFileSync(join(how.folder, 'notes.txt'), 'my notes')
  expect(await statecast(how, 'send', 'main', '', '--file', 'notes.txt', '--no-wait', '--idempotency-key', 'k1')).toMatchObject({ code: 0 })

  const node = await aNode(how)
  await expect.poll(async () => (await statecast(how, 'history', 'main')).stdout, { timeout: 10_000 }).toContain('I got the file "notes.txt"')
  node.signal('SIGTERM')
  await node.ended
})
