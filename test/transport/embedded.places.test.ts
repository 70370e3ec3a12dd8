/** Frames stand in the order in which they were written, whoever they are of: each root finds its own by the list of its places. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Transport } from '../../src/contracts/transport.ts'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { listOf, placesIn } from '../../src/transport/embedded/places.ts'
import { casesOf } from '../support/property.ts'
import { folders } from './folder.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'
import { shown } from './journal.contract.ts'

const aFolder = folders()
const open = async (folder = aFolder()): Promise<Transport> => {
  const transport = await openEmbedded({ folder, environment: anEnvironment() })
  onTestFinished(() => transport.close())
  return transport
}
const change = (folder: string, statement: string): void => {
  const database = new DatabaseSync(join(folder, 'statecast.db'))
  database.exec(statement)
  database.close()
}
test('of roots that were written in turns each is read from anywhere, as far as one likes, whatever was truncated', async () => {
  const { journal } = await open()
  const names = ['a', 'b', 'c']
  const lengths = [70, 33, 16]
  for (let seq = 1; seq <= 70; seq += 1)
    await Promise.all(
      names.flatMap((name, index) => (seq > lengths[index]! ? [] : [journal.append(aSession(name), seq - 1, bytesOf(`${name}${seq}`), awake)])),
    )
  const firsts = [1, 1, 1]
  const whatIsThere = (root: number, from: number, limit: number) =>
    Array.from({ length: lengths[root]! }, (_, index) => index + 1)
      .filter((seq) => seq >= Math.max(from, firsts[root]!))
      .slice(0, limit)
      .map((seq) => `${seq}:${names[root]}${seq}`)

  const asked = fc.record({
    root: fc.nat({ max: 2 }),
    from: fc.integer({ min: 1, max: 72 }),
    limit: fc.integer({ min: 1, max: 40 }),
    truncate: fc.option(fc.integer({ min: 1, max: 80 }), { freq: 10 }),
  })

  await fc.assert(
    fc.asyncProperty(asked, async ({ root, from, limit, truncate }) => {
      if (truncate !== null) {
        await journal.truncate(aSession(names[root]), truncate)
        firsts[root] = Math.max(firsts[root]!, Math.min(truncate, lengths[root]!))
      }
      expect(shown(await journal.read(aSession(names[root]), from, { limit }))).toEqual(whatIsThere(root, from, limit))
    }),
    casesOf(import.meta.url),
  )
})

test.each([
  ['whole', 'SELECT 1'],
  ['without its list', 'DELETE FROM places'],
  ['with a list that is damaged', "UPDATE places SET list = '[1,'"],
  ['with a damaged tail', "UPDATE roots SET tail = 'x' WHERE id = 'gone'"],
])('of a root that was %s nothing stays readable in the files when it is removed, and others lose nothing', async (_, harm) => {
  const folder = aFolder()
  const before = await open(folder)
  for (let seq = 1; seq <= 40; seq += 1)
    for (const id of ['gone', 'here']) await before.journal.append(aSession(id), seq - 1, bytesOf(`secret ${id} ${seq}`), awake)
  await before.close()
  change(folder, harm)

  const { journal, close } = await open(folder)
  await journal.remove(aSession('gone'))
  await close()

  const left = readFileSync(join(folder, 'statecast.db')).toString('latin1')
  expect(left).not.toContain('secret gone')
  expect(left).toContain('secret here')
})

test('a removal of the newest of all is counted: the store is not taken for one that went back [INV-20]', async () => {
  const folder = aFolder()
  for (let life = 0; life < 3; life += 1) {
    const { journal, close } = await open(folder)
    await journal.append(aSession('stays'), life, bytesOf('a'), awake)
    await journal.append(aSession('goes'), 0, bytesOf('b'), awake)
    await journal.remove(aSession('goes'))
    await close()
  }
})

test('a folder as a kill leaves it right after such a removal opens as well', async () => {
  const folder = aFolder()
  const { journal } = await open(folder)
  await journal.append(aSession('goes'), 0, bytesOf('b'), awake)
  await journal.remove(aSession('goes'))

  expect(countIn(folder)).toBeGreaterThanOrEqual(markIn(folder))
  await journal.append(aSession('stays'), 0, bytesOf('a'), awake)
  expect(countIn(folder)).toBeGreaterThanOrEqual(markIn(folder))
})

const markIn = (folder: string): number => Number(readFileSync(join(folder, 'statecast.db.mark'), 'utf8'))
const countIn = (folder: string): number => {
  const database = new DatabaseSync(join(folder, 'statecast.db'), { readOnly: true })
  const row = database.prepare('SELECT max((SELECT groups FROM counter), coalesce((SELECT max(groups) FROM frames), 0)) AS groups').get()
  database.close()
  return Number(row?.groups)
}

test('a list that is none leads nowhere', () => {
  expect(placesIn(listOf([3, 9]))).toEqual([3, 9])
  for (const damaged of ['[1,', '7', 'null', '["1"]', '[1.5]', 8, null, new Uint8Array(2)]) expect(placesIn(damaged)).toEqual([])
})
