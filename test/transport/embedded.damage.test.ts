import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { anEnvironment, aSession, awake, bytesOf, textOf } from './harness.ts'

const aFolder = folders()
const open = (folder: string): Promise<Transport> => openEmbedded({ folder, environment: anEnvironment() })
const databaseOf = (folder: string): string => join(folder, 'statecast.db')

/** A folder with two roots of four frames and a snapshot each, closed. */
const aFilledFolder = async (): Promise<string> => {
  const folder = aFolder()
  const { journal, close } = await open(folder)
  for (const id of ['ill', 'well']) {
    for (let seq = 1; seq <= 4; seq += 1) await journal.append(aSession(id), seq - 1, bytesOf(`frame ${seq} of ${id}`), awake)
    await journal.saveSnapshot(aSession(id), 3, bytesOf(`snapshot of ${id}`))
  }
  await close()
  return folder
}

/** Flips one bit in the middle of the given text wherever the file holds it. */
const flip = (file: string, text: string): void => {
  const content = readFileSync(file)
  let found = 0
  for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + 1), found += 1) content[at + 3]! ^= 1
  expect(found).toBeGreaterThan(0)
  writeFileSync(file, content)
}
const change = (folder: string, statement: string): void => {
  const database = new DatabaseSync(databaseOf(folder))
  database.exec(statement)
  database.close()
}

test('a flipped byte in a frame is reported with its sequence, and other roots are not affected', async () => {
  const folder = await aFilledFolder()
  flip(databaseOf(folder), 'frame 2 of ill')

  const { journal, close } = await open(folder)

  await expect(journal.read(aSession('ill'), 1)).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 2 } })
  expect((await journal.read(aSession('ill'), 1, { limit: 1 })).map(({ seq }) => seq)).toEqual([1])
  expect((await journal.read(aSession('ill'), 3)).map(({ seq }) => seq)).toEqual([3, 4])
  expect(await journal.read(aSession('well'), 1)).toHaveLength(4)
  expect(await journal.append(aSession('well'), 4, bytesOf('goes on'), awake)).toEqual({ outcome: 'ok' })
  await close()
})

test('a root whose last frame is damaged takes no appends; those sent along with it are taken', async () => {
  const folder = await aFilledFolder()
  flip(databaseOf(folder), 'frame 4 of ill')

  const { journal, close } = await open(folder)
  const answers = await Promise.allSettled(['ill', 'well'].map((id) => journal.append(aSession(id), 4, bytesOf('more'), awake)))

  expect(answers).toMatchObject([{ reason: { code: 'corrupt_at', data: { seq: 4 } } }, { value: { outcome: 'ok' } }])
  await expect(journal.last(aSession('ill'))).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 4 } })
  await close()
})

test.each([
  ['in the middle', 'seq = 2', 2],
  ['at the front', 'seq = 1', 1],
  ['at the end', 'seq = 4', 4],
])('a frame missing %s is reported as damage, never skipped', async (_, where, seq) => {
  const folder = await aFilledFolder()
  change(folder, `DELETE FROM frames WHERE root = 1 AND ${where}`)

  const { journal, close } = await open(folder)

  await expect(journal.read(aSession('ill'), 1)).rejects.toMatchObject({ code: 'corrupt_at', data: { seq } })
  await close()
})

test('a frame that was replaced by a whole one of another root is found out', async () => {
  const folder = await aFilledFolder()
  change(
    folder,
    `UPDATE frames AS ill SET (previous, checksum, bytes) = (SELECT previous, checksum, bytes FROM frames WHERE root = 2 AND seq = ill.seq)
     WHERE root = 1`,
  )

  const { journal, close } = await open(folder)

  await expect(journal.read(aSession('ill'), 1)).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 1 } })
  await close()
})

test('a damaged snapshot is as good as none', async () => {
  const folder = await aFilledFolder()
  flip(databaseOf(folder), 'snapshot of ill')

  const { journal, close } = await open(folder)

  expect(await journal.snapshot(aSession('ill'))).toBeUndefined()
  expect(textOf((await journal.snapshot(aSession('well')))?.bytes)).toBe('snapshot of well')
  await close()
})

test('a damaged inbox message is buried instead of delivered', async () => {
  const folder = aFolder()
  const first = await open(folder)
  for (const id of ['bad', 'good']) await first.inbox.put('in.a', id, bytesOf(`the ${id} message`))
  await first.close()
  flip(databaseOf(folder), 'the bad message')

  const { inbox, close } = await open(folder)
  const heard = new Promise<string>((resolve) => {
    inbox.consume('in.>', async (delivery) => {
      await delivery.ack()
      resolve(delivery.id)
    })
  })

  expect(await heard).toBe('good')
  expect(await inbox.deadLetters()).toMatchObject([{ id: 'bad', reason: expect.stringContaining('damaged') }])
  await close()
})

test('a blob that does not fit its name is never returned, and is mended by putting it again', async () => {
  const folder = aFolder()
  const { blobs, close } = await open(folder)
  const hash = await blobs.put(bytesOf('a long document'))
  writeFileSync(join(folder, 'blobs', hash.slice(0, 2), hash), 'a wrong document')

  await expect(blobs.get(hash)).rejects.toMatchObject({ code: 'corrupt_at', data: { hash } })
  await blobs.put(bytesOf('a long document'))

  expect(textOf(await blobs.get(hash))).toBe('a long document')
  expect(readdirSync(join(folder, 'blobs', 'partial'))).toEqual([])
  await close()
})

test.each([
  ['something else', (file: string) => writeFileSync(file, 'garbage '.repeat(1_000))],
  ['cut off in the middle', (file: string) => truncateSync(file, 8_192)],
  ['cut off in its header', (file: string) => truncateSync(file, 50)],
])('a database file that is %s is refused with what to do', async (_, damage) => {
  const folder = await aFilledFolder()
  damage(databaseOf(folder))

  await expect(open(folder)).rejects.toMatchObject({ code: 'corrupt_at', hint: expect.stringContaining('backup') })
})

test('a database of a newer version is refused and left as it is', async () => {
  const folder = aFolder()
  mkdirSync(folder)
  change(folder, 'PRAGMA user_version = 999; CREATE TABLE future (x)')
  const before = readFileSync(databaseOf(folder))

  await expect(open(folder)).rejects.toMatchObject({ code: 'unsupported', hint: expect.stringContaining('newer'), data: { found: 999 } })

  expect(readFileSync(databaseOf(folder)).equals(before)).toBe(true)
})

test('a database of an older version is refused with the way to take it along, and left as it is', async () => {
  const folder = aFolder()
  mkdirSync(folder)
  change(folder, 'PRAGMA user_version = 2; CREATE TABLE counter (groups INTEGER NOT NULL); INSERT INTO counter VALUES (9)')
  writeFileSync(`${databaseOf(folder)}.mark`, '9')
  const before = readFileSync(databaseOf(folder))

  await expect(open(folder)).rejects.toMatchObject({ code: 'unsupported', hint: expect.stringContaining('statecast export'), data: { found: 2 } })

  expect(readFileSync(databaseOf(folder)).equals(before)).toBe(true)
})

test.each([
  ['seq', 'seq - 1'],
  ['wake_at', '90'],
  ['wake_at', 'NULL'],
  ['at', '5'],
  ['tail', "'[1]'"],
])('a root of which %s has changed to %s is damaged: it is told at the start, and others are woken', async (column, value) => {
  const folder = aFolder()
  const first = await open(folder)
  for (const id of ['ill', 'well']) await first.journal.append(aSession(id), 0, bytesOf('frame'), { wakeAt: 50, at: 7 })
  await first.journal.append(aSession('ill'), 1, bytesOf('another'), { wakeAt: 50, at: 7 })
  await first.close()
  change(folder, `UPDATE roots SET ${column} = ${value} WHERE id = 'ill'`)

  const environment = anEnvironment()
  const { journal, close } = await openEmbedded({ folder, environment })

  const damage = { code: 'corrupt_at', data: { id: 'ill' } }
  expect(environment.lines).toMatchObject([{ level: 'error', fields: { error: damage } }])
  expect((await journal.due(100, 10)).map(({ address }) => address.id)).toEqual(['well'])
  const answers = await Promise.allSettled([
    journal.head(aSession('ill')),
    journal.last(aSession('ill')),
    journal.read(aSession('ill'), 1),
    journal.append(aSession('ill'), 2, bytesOf('more'), awake),
    journal.list(),
  ])
  for (const answer of answers) expect(answer).toMatchObject({ reason: damage })
  await journal.remove(aSession('ill'))
  expect(await journal.append(aSession('ill'), 0, bytesOf('anew'), awake)).toEqual({ outcome: 'ok' })
  await close()
})

test('a root that is damaged while it sleeps keeps nobody else asleep, and is told once', async () => {
  const folder = aFolder()
  const environment = anEnvironment()
  const { journal, close } = await openEmbedded({ folder, environment })
  for (const id of ['ill', 'well']) await journal.append(aSession(id), 0, bytesOf('frame'), { wakeAt: 50, at: 7 })
  change(folder, "UPDATE roots SET wake_at = 51 WHERE id = 'ill'")

  for (let again = 0; again < 2; again += 1) expect((await journal.due(100, 10)).map(({ address }) => address.id)).toEqual(['well'])

  expect(environment.lines).toMatchObject([{ level: 'error', fields: { error: { code: 'corrupt_at', data: { id: 'ill' } } } }])
  await close()
})

test.each([
  ['text', 'CAST(bytes AS TEXT)'],
  ['a number', '7'],
  ['nothing', "x''"],
])('bytes of a frame that have become %s are damage', async (_, value) => {
  const folder = await aFilledFolder()
  change(folder, `UPDATE frames SET bytes = ${value} WHERE root = 1 AND seq = 4`)

  const { journal, close } = await open(folder)

  await expect(journal.read(aSession('ill'), 1)).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 4 } })
  await expect(journal.append(aSession('ill'), 4, bytesOf('more'), awake)).rejects.toMatchObject({ code: 'corrupt_at', data: { seq: 4 } })
  await close()
})

/** Overwrites all but the first page, which has the schema. */
const overwrite = (folder: string): void => {
  const file = databaseOf(folder)
  const content = readFileSync(file)
  writeFileSync(file, content.fill(0xff, 4096), { flag: 'r+' })
}

test.each<[string, (transport: Transport) => Promise<unknown>]>([
  ['a read', ({ journal }) => journal.read(aSession('ill'), 1)],
  // What the writer knows by heart it need not read: an append would go well.
  ['a write', ({ journal }) => journal.saveSnapshot(aSession('ill'), 4, bytesOf('image'))],
])('a file that breaks in use takes nothing more once %s has found it, and health says so [INV-1]', async (_, find) => {
  const folder = await aFilledFolder()
  const transport = await open(folder)
  overwrite(folder)

  await expect(find(transport)).rejects.toMatchObject({ code: 'corrupt_at', data: { sqlite: expect.any(Number) } })
  const { journal, inbox, registry, blobs } = transport
  const later = await Promise.allSettled([
    journal.append(aSession('new'), 0, bytesOf('first'), awake),
    inbox.put('in.a', '1', bytesOf('work')),
    registry.put('key', 'value'),
    blobs.put(bytesOf('a document')),
  ])

  for (const answer of later) expect(answer).toMatchObject({ reason: { code: 'corrupt_at', hint: expect.stringContaining('restore') } })
  expect(await transport.health()).toMatchObject({ writable: false, detail: expect.stringContaining('damaged') })
  await transport.close().catch(() => undefined)
})
