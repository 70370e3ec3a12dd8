/** One transaction for all that has queued up: what is answered stands in the files that are in the folder. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openForWriting } from '../../src/transport/embedded/database.ts'
import { groupCommit } from '../../src/transport/embedded/group-commit.ts'
import { highWater } from '../../src/transport/embedded/high-water.ts'
import { type OpenFiles, openFiles } from '../../src/transport/embedded/open-files.ts'
import { diskFolder } from '../support/scratch.ts'
import { folders } from './folder.ts'
import { bytesOf } from './harness.ts'

const aFolder = folders(diskFolder)

/** A writer of which something happens to the folder once, after the writer has looked at it and before it commits. */
const aWriter = (meanwhile: (folder: string) => void) => {
  const folder = aFolder()
  mkdirSync(folder)
  const file = join(folder, 'statecast.db')
  const database = openForWriting(file)
  onTestFinished(() => database.close())
  const real = openFiles([file, `${file}-wal`])
  let looks = 0
  const files: Pick<OpenFiles, 'require'> = {
    require() {
      real.require()
      if (++looks === 3) meanwhile(folder)
    },
  }
  return { folder, mark: `${file}.mark`, commit: groupCommit(database, file, highWater(database, file), files) }
}
const append = (seq: number) => ['append', 'session', 'one', seq - 1, null, 1, bytesOf(`frame ${seq}`)] as const

test.each<[string, (folder: string) => void]>([
  ['moved away', (folder) => renameSync(folder, `${folder}.away`)],
  ['deleted', (folder) => rmSync(folder, { recursive: true })],
])('[INV-1, INV-16] a folder that is %s between the look at it and the commit: what was written is not acknowledged', (_, meanwhile) => {
  const { folder, commit } = aWriter(meanwhile)
  expect(commit.run([[...append(1)]])).toEqual([-1])

  const answers = commit.run([[...append(2)], [...append(3)]])

  expect(existsSync(folder)).toBe(false)
  for (const answer of answers) expect(answer).toMatchObject({ error: { code: 'log_unavailable', retryable: true } })
  expect(commit.run([[...append(4)]])).toMatchObject([{ error: { code: 'log_unavailable' } }])
})
