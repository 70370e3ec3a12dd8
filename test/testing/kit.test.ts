import { once } from 'node:events'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { agent, tool } from '../../src/index.ts'
import { failPoints, seededIds, seededRandom, testRuntime, traceOf, virtualClock } from '../../src/testing/index.ts'

test('virtual time: timers fire in order of time, then of their setting, and what they cause settles in between', async () => {
  const clock = virtualClock(1000)
  const seen: string[] = []
  clock.setTimeout(() => seen.push(`c ${clock.now()}`), 20)
  clock.setTimeout(() => {
    seen.push(`a ${clock.now()}`)
    void Promise.resolve().then(() => clock.setTimeout(() => seen.push(`nested ${clock.now()}`), 5))
  }, 10)
  clock.setTimeout(() => seen.push(`b ${clock.now()}`), 10)
  const cancelled = clock.setTimeout(() => seen.push('never'), 1)
  clock.clearTimeout(cancelled)

  await clock.advance(19)
  expect(seen).toEqual(['a 1010', 'b 1010', 'nested 1015'])
  expect(clock.now()).toBe(1019)
  expect(clock.pending()).toBe(1)

  await clock.runAll()
  expect(seen.at(-1)).toBe('c 1020')
})

test('virtual time: none passes while a file is being read, however long that takes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'statecast-kit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'large')
  await writeFile(file, '')
  await truncate(file, 32_000_000)
  const clock = virtualClock(0)
  clock.setTimeout(() => undefined, 60_000)

  const { length } = await clock.until(readFile(file))

  expect(length).toBe(32_000_000)
  expect(clock.now()).toBe(0)
})

test('virtual time: none passes while a thread that the process lives for has not answered', async () => {
  const slow = `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (work) => setTimeout(() => parentPort.postMessage(work), 100))`
  const thread = new Worker(slow, { eval: true })
  onTestFinished(async () => void (await thread.terminate()))
  await once(thread, 'online')
  const clock = virtualClock(0)
  clock.setTimeout(() => undefined, 60_000)

  thread.postMessage('work')
  await clock.until(once(thread, 'message'))

  expect(clock.now()).toBe(0)
})

test('virtual time: `until` passes as much of it as a promise or a condition needs, and gives up in words', async () => {
  const clock = virtualClock(0)
  const sleep = (ms: number) => new Promise<number>((resolve) => void clock.setTimeout(() => resolve(ms), ms))

  expect(await clock.until(sleep(3_600_000))).toBe(3_600_000)
  let here = false
  void sleep(50).then(() => (here = true))
  await clock.until(() => here)
  expect(clock.now()).toBe(3_600_050)
  await expect(clock.until(sleep(5000).then(() => Promise.reject(new Error('broken'))))).rejects.toThrow('broken')
  await expect(clock.until(() => false, 10)).rejects.toThrow('did not happen within 10 ms')
  clock.setTimeout(function again() {
    clock.setTimeout(again, 1)
  }, 1)
  await expect(clock.runAll(100)).rejects.toThrow('100 timers fired')
})

test('ids and chance are the same for the same seed', () => {
  const draw = (seed: number) => {
    const [ids, random] = [seededIds(seed), seededRandom(seed)]
    return [ids.next('m'), ids.next('run'), ...Array.from({ length: 3 }, () => random.next())]
  }

  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
  const numbers = Array.from(
    { length: 10_000 },
    (
      (random) => () =>
        random.next()
    )(seededRandom(3)),
  )
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...numbers)).toBeLessThan(1)
  expect(numbers.reduce((sum, one) => sum + one, 0) / numbers.length).toBeCloseTo(0.5, 1)
})

test('fail points hold, throw and call at the hit that was named, counted from now', async () => {
  const points = failPoints()
  expect(points.hit('K05')).toBeUndefined()
  const release = points.hold('K05', 2)
  points.throw('K06')
  let called = 0
  points.call('K07', () => void called++)
  const hit = points.untilHit('K05', 2)

  expect(points.hit('K05')).toBeUndefined()
  const held = points.hit('K05')
  await hit
  let passed = false
  void Promise.resolve(held).then(() => (passed = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(passed).toBe(false)
  release()
  await held
  expect(() => points.hit('K06')).toThrow('fail point K06')
  expect(points.hit('K06')).toBeUndefined()
  void points.hit('K07')
  void points.hit('K07')
  expect([called, points.count('K05'), points.count('K07')]).toEqual([1, 3, 2])
})

test('a runtime under test: it answers in virtual time, crashes, and the next life goes on from the same store', async () => {
  const effects: string[] = []
  const note = tool({
    name: 'note',
    description: 'notes',
    input: z.object({ text: z.string() }),
    onCrash: 'retry',
    execute: ({ text }, { attempt }) => void effects.push(`${text} ${attempt}`),
  })
  await using kit = await testRuntime({
    agents: [agent({ name: 'main', model: 'test/model', tools: [note] })],
    models: { 'test/model': [{ calls: [{ name: 'note', input: { text: 'x' } }], delayMs: 30_000 }, { text: 'done' }] },
  })
  await kit.session('s').send('go', { idempotencyKey: 'm1' })
  void kit.failPoints.hold('K11')
  await kit.clock.until(kit.failPoints.untilHit('K11'))
  expect(effects).toEqual(['x 1'])

  await kit.crash()
  expect(() => kit.runtime).toThrow('restart()')
  expect(kit.clock.pending()).toBe(0)
  await kit.restart()
  const answer = await kit.clock.until(kit.session('s').wait('m1'))

  expect(answer.text).toBe('done')
  expect(effects).toEqual(['x 1', 'x 2'])
  expect(kit.events('s').map(({ type }) => type)).toEqual(['accepted', 'started', 'tool', 'tool', 'delta', 'final'])
  expect(await kit.commits('s')).toBe((await kit.trace('s')).at(-1)?.seq)
  expect((await traceOf(kit.runtime, 's'))[1]).toMatch(/^1 \/ message → /)
  expect(await kit.runtime.replay({ kind: 'session', id: 's' })).toMatchObject({ verdict: 'identical' })
})
