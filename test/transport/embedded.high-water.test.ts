import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'

const aFolder = folders()
const open = (folder: string): Promise<Transport> => openEmbedded({ folder, environment: anEnvironment() })

/** Appends one frame to a session in a process life of its own. */
const appendIn = async (folder: string, expected: number): Promise<void> => {
  const { journal, close } = await open(folder)
  await journal.append(aSession('one'), expected, bytesOf(`frame ${expected + 1}`), awake)
  await close()
}

/** A folder whose store was replaced by a copy that is one append older. */
const aFolderThatWentBack = async (): Promise<string> => {
  const folder = aFolder()
  const file = join(folder, 'statecast.db')
  await appendIn(folder, 0)
  copyFileSync(file, `${file}.older`)
  await appendIn(folder, 1)
  copyFileSync(`${file}.older`, file)
  return folder
}

test('[INV-20] an older copy of the store put back is noticed before anything is appended', async () => {
  const folder = await aFolderThatWentBack()

  const opened = open(folder)

  await expect(opened).rejects.toMatchObject({ code: 'corrupt_at', hint: expect.stringContaining('.mark') })
})

test('whoever wants the older state removes the mark, as the hint says', async () => {
  const folder = await aFolderThatWentBack()
  rmSync(join(folder, 'statecast.db.mark'))

  const { journal, close } = await open(folder)

  expect(await journal.head(aSession('one'))).toMatchObject({ seq: 1 })
  await close()
})

test('a mark that is damaged or missing does not keep a sound store from opening', async () => {
  const folder = aFolder()
  await appendIn(folder, 0)
  writeFileSync(join(folder, 'statecast.db.mark'), 'not a number')

  await appendIn(folder, 1)

  rmSync(join(folder, 'statecast.db.mark'))
  await appendIn(folder, 2)
})
