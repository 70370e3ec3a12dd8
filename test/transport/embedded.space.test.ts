import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '../../src/transport/embedded/open.ts'
import { folders } from './folder.ts'
import { aManualClock, anEnvironment, aSession, awake, bytesOf } from './harness.ts'

const aFolder = folders()
const mebibyte = 1024 * 1024

/** A disk whose free space the test decides. */
const aDisk = async (freeBytes: number) => {
  const disk = { freeBytes, looks: 0 }
  const clock = aManualClock()
  const transport = await openEmbedded({
    folder: aFolder(),
    environment: anEnvironment({ clock }),
    freeBytesMin: 10 * mebibyte,
    measureFreeBytes: () => {
      disk.looks += 1
      return disk.freeBytes
    },
  })
  onTestFinished(() => transport.close())
  return { disk, clock, transport }
}

test('below the reserve nothing is written, and writing goes on by itself when there is space again', async () => {
  const { disk, clock, transport } = await aDisk(100 * mebibyte)
  const { journal, inbox, blobs } = transport
  await journal.append(aSession(), 0, bytesOf('a'), awake)

  disk.freeBytes = 3 * mebibyte
  clock.advance(1_000)
  const refusals = [
    journal.append(aSession(), 1, bytesOf('b'), awake),
    inbox.put('in.a', '1', bytesOf('b')),
    blobs.put(bytesOf('b')),
    journal.saveSnapshot(aSession(), 1, bytesOf('b')),
  ]
  const answers = await Promise.allSettled(refusals)
  const sick = await transport.health()
  disk.freeBytes = 100 * mebibyte

  for (const answer of answers)
    expect(answer).toMatchObject({
      reason: {
        code: 'log_full',
        retryable: true,
        hint: expect.stringContaining(`${3 * mebibyte} bytes are free`),
        data: { freeBytes: 3 * mebibyte },
      },
    })
  expect(sick).toMatchObject({ writable: false, freeBytes: 3 * mebibyte })
  expect((await journal.head(aSession()))?.seq).toBe(1)
  expect(await journal.append(aSession(), 1, bytesOf('b'), awake)).toEqual({ outcome: 'ok' })
  expect(await inbox.put('in.a', '1', bytesOf('b'))).toEqual({ duplicate: false })
  expect(await transport.health()).toMatchObject({ writable: true })
})

test('what is done can be noted and a lease renewed although the disk is nearly full', async () => {
  const { disk, clock, transport } = await aDisk(100 * mebibyte)
  await transport.inbox.put('in.a', '1', bytesOf('work'))
  disk.freeBytes = 0
  clock.advance(1_000)

  const acknowledged = new Promise<void>((resolve, reject) => {
    transport.inbox.consume('in.>', (delivery) => delivery.ack().then(resolve, reject))
  })

  await acknowledged
  expect(await transport.registry.put('lease/1', 'mine')).toBeDefined()
})

test('the disk is looked at once a second, or when a write could use up what is left', async () => {
  const { disk, clock, transport } = await aDisk(100 * mebibyte)
  const append = async (expected: number, sizeBytes: number) => transport.journal.append(aSession(), expected, new Uint8Array(sizeBytes), awake)

  for (let seq = 0; seq < 5; seq += 1) await append(seq, 100)
  const afterSmall = disk.looks
  clock.advance(1_000)
  await append(5, 100)
  const afterASecond = disk.looks
  disk.freeBytes = 20 * mebibyte
  for (let seq = 6; seq < 12; seq += 1) await append(seq, 8 * mebibyte).catch(() => undefined)

  expect([afterSmall, afterASecond]).toEqual([1, 2])
  expect((await transport.journal.head(aSession()))!.seq).toBeLessThan(12)
  expect(disk.looks).toBeGreaterThan(2)
})

const mounted = (folder: string): boolean => {
  try {
    mkdirSync(folder, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('a disk that is full although the guard saw none of it answers log_full, loses nothing, and recovers', async ({ skip }) => {
  const folder = aFolder()
  if (!mounted(folder)) skip('mounting a small disk is not allowed here')
  onTestFinished(() => void execFileSync('umount', [folder]))
  const transport = await openEmbedded({
    folder: join(folder, 'data'),
    environment: anEnvironment(),
    freeBytesMin: 0,
    measureFreeBytes: () => Number.MAX_SAFE_INTEGER,
  })
  const ballast = join(folder, 'ballast')
  writeFileSync(ballast, new Uint8Array(2 * mebibyte))
  let seq = 0
  const sleeper = aSession('sleeper')
  await transport.journal.append(sleeper, 0, bytesOf('a'), { wakeAt: 50, at: 1 })
  const append = () => transport.journal.append(aSession(), seq, new Uint8Array(100_000).fill(seq), awake)

  const full = await (async () => {
    for (;;) {
      const answer = await append().catch((error: unknown) => error)
      if (answer instanceof Error) return answer
      expect(answer).toEqual({ outcome: 'ok' })
      seq += 1
    }
  })()
  const later = await transport.journal.append(sleeper, 1, new Uint8Array(100_000), { wakeAt: 900, at: 2 }).catch((error: unknown) => error)
  const stillDue = await transport.journal.due(100, 10)
  const stillThere = await transport.journal.read(aSession(), 1)
  rmSync(ballast)
  const recovered = await append()
  const frames = await transport.journal.read(aSession(), 1)
  await transport.close()

  expect(full).toMatchObject({ code: 'log_full', retryable: true })
  expect(later).toMatchObject({ code: 'log_full' })
  expect(stillDue).toMatchObject([{ address: sleeper, seq: 1, wakeAt: 50 }])
  expect(stillThere).toHaveLength(seq)
  expect(recovered).toEqual({ outcome: 'ok' })
  expect(frames.map(({ bytes }) => bytes[0])).toEqual(Array.from({ length: seq + 1 }, (_, index) => index))
})
