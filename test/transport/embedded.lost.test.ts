import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded, readOwner } from '../../src/transport/embedded/open.ts'
import { diskFolder } from '../support/scratch.ts'
import { folders } from './folder.ts'
import { anEnvironment, aSession, awake, bytesOf, textOf } from './harness.ts'

const aFolder = folders(diskFolder)
const open = (folder: string): Promise<Transport> => openEmbedded({ folder, environment: anEnvironment() })

/** A folder in use, with three frames acknowledged. */
const aFolderInUse = async (): Promise<{ folder: string; transport: Transport }> => {
  const folder = aFolder()
  const transport = await open(folder)
  onTestFinished(() => transport.close())
  for (let seq = 0; seq < 3; seq += 1) await transport.journal.append(aSession(), seq, bytesOf(`frame ${seq + 1}`), awake)
  return { folder, transport }
}

const framesIn = async (folder: string): Promise<string[]> => {
  const { journal, close } = await open(folder)
  const frames = await journal.read(aSession(), 1)
  await close()
  return frames.map(({ bytes }) => textOf(bytes))
}

const threeFrames = ['frame 1', 'frame 2', 'frame 3']
const append = ({ journal }: Transport) => journal.append(aSession(), 3, bytesOf('frame 4'), awake)
const refusal = { code: 'log_unavailable', retryable: true, hint: expect.stringContaining('restore the data folder') }

const hashesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isFile()
        ? [
            [
              entry.name,
              createHash('sha256')
                .update(readFileSync(join(folder, entry.name)))
                .digest('hex'),
            ],
          ]
        : [],
    ),
  )

test('when its folder was deleted, nothing is acknowledged any more, nor read from what only this process sees [INV-1]', async () => {
  const { folder, transport } = await aFolderInUse()
  const { journal, inbox, registry, blobs } = transport
  rmSync(folder, { recursive: true })

  const answers = await Promise.allSettled([
    append(transport),
    journal.saveSnapshot(aSession(), 3, bytesOf('s')),
    journal.truncate(aSession(), 2),
    inbox.put('in.a', '1', bytesOf('work')),
    registry.put('key', 'value'),
    blobs.put(bytesOf('a document')),
  ])
  const later = await Promise.allSettled([append(transport), inbox.put('in.a', '2', bytesOf('work')), journal.read(aSession(), 1)])

  for (const answer of [...answers, ...later]) expect(answer).toMatchObject({ reason: refusal })
  expect(await transport.health()).toMatchObject({ writable: false, detail: expect.stringContaining('is gone') })
  await transport.close()
  expect(existsSync(folder)).toBe(false)
})

test('health says that the folder is gone before anybody has tried to write', async () => {
  const { folder, transport } = await aFolderInUse()
  rmSync(folder, { recursive: true })

  const health = await transport.health()

  expect(health).toMatchObject({ writable: false, detail: expect.stringContaining(join(folder, 'statecast.db')) })
})

test('a folder put in place of the one in use takes nothing from it, and loses nothing by its end', async () => {
  const other = await aFolderInUse()
  await other.transport.inbox.put('in.a', '1', bytesOf('still in the write-ahead log'))
  const copy = aFolder()
  cpSync(other.folder, copy, { recursive: true })
  const { folder, transport } = await aFolderInUse()
  renameSync(folder, `${folder}.away`)
  renameSync(copy, folder)
  writeFileSync(join(folder, 'owner.json'), '{"pid":1,"url":"of another process"}')
  // SQLite tidies this one away by its path; of a file that never holds anything it is the empty beginning.
  rmSync(join(folder, 'lock.db-journal'), { force: true })
  const before = hashesIn(folder)

  const answer = append(transport)

  await expect(answer).rejects.toMatchObject({ ...refusal, message: expect.stringContaining('was replaced') })
  await transport.close()
  expect(hashesIn(folder)).toEqual(before)
  expect(await framesIn(`${folder}.away`)).toEqual(threeFrames)
  expect(await framesIn(folder)).toEqual(threeFrames)
})

test('a runtime that has taken the place of one whose folder was replaced stays known as its owner', async () => {
  const { folder, transport } = await aFolderInUse()
  renameSync(folder, `${folder}.away`)
  const second = await open(folder)
  onTestFinished(() => second.close())

  await transport.close()

  expect(readOwner(folder)).toEqual({ pid: process.pid })
})

test.each(['statecast.db-wal', 'statecast.db-shm', 'lock.db'])(
  '%s alone deleted stops the writing, and after a restart everything acknowledged is there',
  async (name) => {
    const { folder, transport } = await aFolderInUse()
    rmSync(join(folder, name))

    await expect(append(transport)).rejects.toMatchObject({ ...refusal, data: { file: join(folder, name) } })

    expect(await transport.health()).toMatchObject({ writable: false })
    await transport.close()
    expect(await framesIn(folder)).toEqual(threeFrames)
  },
)

test('a write-ahead log replaced by another file is noticed while it is written', async () => {
  const { folder, transport } = await aFolderInUse()
  rmSync(join(folder, 'statecast.db-wal'))
  writeFileSync(join(folder, 'statecast.db-wal'), '')
  let refused: unknown
  let seq = 3

  while (refused === undefined)
    await transport.journal.append(aSession(), seq++, bytesOf('more'), awake).catch((error: unknown) => {
      refused = error
    })

  expect(refused).toMatchObject({ ...refusal, message: expect.stringContaining('was replaced') })
})

test('whenever the folder is moved away while appends are in flight, each one that was acknowledged is in it', async () => {
  for (const pauses of [0, 1, 3, 8, 20]) {
    const { folder, transport } = await aFolderInUse()
    let acknowledged = 3
    const writing = (async () => {
      for (;;) {
        await transport.journal.append(aSession(), acknowledged, bytesOf(`frame ${acknowledged + 1}`), awake)
        acknowledged += 1
      }
    })()
    for (let turn = 0; turn < pauses; turn += 1) await new Promise((resolve) => setImmediate(resolve))

    renameSync(folder, `${folder}.away`)
    await expect(writing).rejects.toMatchObject(refusal)
    await transport.close()

    const frames = await framesIn(`${folder}.away`)
    expect(frames.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, index) => `frame ${index + 1}`))
    expect(frames.length).toBeLessThanOrEqual(acknowledged + 1)
  }
})
