import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { startWriter } from '../../src/transport/embedded/writer.ts'
import { diskFolder } from '../support/scratch.ts'
import { aChild, folders, neverHere } from './folder.ts'
import { anEnvironment, aSession, awake, bytesOf, textOf } from './harness.ts'

const aFolder = folders(diskFolder)
const dyingWriter = new URL('./fixtures/dying-writer.ts', import.meta.url)

test('after kill -9 in the middle of many appends everything acknowledged is there, gapless, and work goes on', async () => {
  const folder = aFolder()
  const acknowledged = new Map<string, number>()

  for (const [linesBeforeDeath, place] of [
    [50, 'thread'],
    [400, 'thread'],
    [50, 'here'],
    [400, 'here'],
  ] as const) {
    // A root continues from nothing in the child, so each round has a folder of its own below.
    const round = join(folder, `${place} ${linesBeforeDeath}`)
    acknowledged.clear()
    const child = aChild('appender', round, '8', place)
    expect((await child.lines.next()).value).toBe('ready')
    const read = async () => {
      const { value, done } = await child.lines.next()
      if (done === true) return false
      const [id = '', seq] = String(value).split(' ')
      acknowledged.set(id, Number(seq))
      return true
    }
    for (let count = 0; count < linesBeforeDeath; count += 1) await read()
    await child.kill()
    while (await read());

    const transport = await openEmbedded({ folder: round, environment: anEnvironment() })
    for (const [id, seq] of acknowledged) {
      const frames = await transport.journal.read(aSession(id), 1)
      expect(frames.length).toBeGreaterThanOrEqual(seq)
      expect(frames.map(({ bytes }) => textOf(bytes))).toEqual(frames.map((_, index) => `${id} says ${index + 1}`))
    }
    await transport.close()
  }
})

test('a writer thread that dies answers everything that waits, and refuses what comes later', async () => {
  const folder = aFolder()
  mkdirSync(folder)
  const writer = await startWriter(join(folder, 'statecast.db'), { program: dyingWriter, pace: neverHere })

  const waiting = [writer.write(['remove', 'session', 'a']), writer.write(['remove', 'session', 'b'])]

  for (const answer of await Promise.allSettled(waiting)) expect(answer).toMatchObject({ reason: { code: 'log_unavailable' } })
  await expect(writer.write(['remove', 'session', 'c'])).rejects.toMatchObject({ code: 'log_unavailable' })
  expect(writer.failure()).toMatchObject({ code: 'log_unavailable', message: expect.stringContaining('out of memory') })
  await writer.close()
})

test('an append that waits for a writer that dies is unknown, and the next one is refused', async () => {
  const folder = aFolder()
  const transport = await openEmbedded({ folder, environment: anEnvironment(), writer: { program: dyingWriter, pace: neverHere } })

  const waiting = await transport.journal.append(aSession(), 0, bytesOf('a'), awake)

  expect(waiting).toMatchObject({ outcome: 'unknown', cause: { code: 'log_unavailable' } })
  await expect(transport.journal.append(aSession(), 0, bytesOf('a'), awake)).rejects.toMatchObject({ code: 'log_unavailable' })
  expect(await transport.journal.head(aSession())).toBeUndefined()
  expect(await transport.health()).toMatchObject({ writable: false, detail: expect.stringContaining('out of memory') })
  await transport.close()
})

test('a writer thread that cannot start is an error, not a wait', async () => {
  const missing = new URL('./fixtures/no-such-writer.ts', import.meta.url)

  await expect(startWriter(fileURLToPath(missing), { program: missing })).rejects.toMatchObject({ code: 'log_unavailable' })
})

test('a write that SQLite itself refuses does not take along those that shared its transaction', async () => {
  const { journal, close } = await openEmbedded({ folder: aFolder(), environment: anEnvironment() })
  const impossible = { wakeAt: null, at: Number.NaN }

  const answers = await Promise.all([
    journal.append(aSession('before'), 0, bytesOf('a'), awake),
    journal.append(aSession('broken'), 0, bytesOf('a'), impossible),
    journal.append(aSession('after'), 0, bytesOf('a'), awake),
    journal.append(aSession('after'), 1, bytesOf('b'), awake),
  ])

  expect(answers.map(({ outcome }) => outcome)).toEqual(['ok', 'unknown', 'ok', 'ok'])
  expect((await journal.list()).map(({ address, seq }) => [address.id, seq])).toEqual([
    ['after', 2],
    ['before', 1],
  ])
  await close()
})
