/** A server that lost the end of the journal with a damaged block does not say so: the next node that starts does. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Registry, Transport } from '../../src/contracts/transport.ts'
import { systemEnvironment } from '../../src/runtime/system-environment.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { openMemory } from '../../src/transport/memory/open.ts'
import { type HighWater, markKey, natsHighWater } from '../../src/transport/nats/high-water.ts'
import type { Link } from '../../src/transport/nats/link.ts'
import { namesOf } from '../../src/transport/nats/names.ts'
import { openNats } from '../../src/transport/nats/open.ts'
import { type Nats, startNats } from '../support/nats.ts'
import { anEnvironment, aSession, awake, bytesOf } from './harness.ts'
import { appendAll } from './journal.contract.ts'
import { acceptNats } from './shorten.ts'

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)],
  )

/** One bit of the journal flips, and the index that would have told how far it went is lost. */
const damaged = async (server: Nats): Promise<void> => {
  await server.kill()
  const files = filesUnder(server.store).filter((file) => file.includes('STATECAST_JOURNAL'))
  const block = files.find((file) => file.endsWith('.blk')) as string
  const content = readFileSync(block)
  content[Math.floor(content.length * 0.6)]! ^= 1
  writeFileSync(block, content)
  for (const file of files) if (file.endsWith('index.db')) rmSync(file)
  await server.restart()
}

const aServer = async (): Promise<Nats> => {
  const server = await startNats()
  onTestFinished(() => server.stop())
  return server
}
const open = async (server: Nats, environment = anEnvironment()): Promise<Transport> => {
  const transport = await openNats({ url: server.url, environment })
  onTestFinished(() => transport.close())
  return transport
}
const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(50))

test('[INV-20] a journal that a server cut off at a damaged block is refused by the node that starts next, until somebody wants it so', async () => {
  const server = await aServer()
  const first = await open(server)
  await appendAll(first.journal, texts)
  await first.close()
  await damaged(server)

  const refused = open(server)

  await expect(refused).rejects.toMatchObject({
    code: 'corrupt_at',
    message: expect.stringContaining('STATECAST_JOURNAL has lost its end'),
    hint: expect.stringMatching(/backup.*_backend\/journal/),
    data: { known: 20 },
  })
  await acceptNats(server.url)
  expect((await (await open(server)).journal.head(aSession()))?.seq).toBeLessThan(20)
})

test('[INV-20] the node that was running while it happened goes on with nothing that it has seen longer, and says in its log what happened', async () => {
  const server = await aServer()
  const environment = anEnvironment()
  const { journal } = await open(server, environment)
  await appendAll(journal, texts)
  await damaged(server)

  const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await ask()
      } catch (error) {
        if (!(error as { retryable?: boolean }).retryable) throw error
        await sleep(50)
      }
  }
  await expect(patiently(() => journal.head(aSession()))).rejects.toMatchObject({ code: 'corrupt_at', data: { known: 20 } })
  await expect(patiently(() => journal.append(aSession(), 20, bytesOf('more'), awake))).rejects.toMatchObject({ code: 'corrupt_at' })
  expect(await journal.append(aSession('other'), 0, bytesOf('a'), awake)).toEqual({ outcome: 'ok' })
  expect(environment.lines).toContainEqual(
    expect.objectContaining({ level: 'error', message: expect.stringContaining('has lost its end while this node was running') }),
  )
})

test('the mark is raised while frames are written, and never lowered by a node that is behind', async () => {
  const server = await aServer()
  const one = await open(server)
  const other = await open(server)
  await appendAll(one.journal, ['a', 'b', 'c'])
  const mark = async () => Number((await one.registry.get('_backend/journal'))?.value)

  await expect.poll(mark, { timeout: 20_000 }).toBe(3)
  await appendAll(other.journal, ['a'], aSession('other'))
  await appendAll(one.journal, ['a'], aSession('third'))
  await other.close()
  await one.close()

  const next = await open(server)
  expect(Number((await next.registry.get('_backend/journal'))?.value)).toBe(5)
})

/** The registry knows the stream to have come to message 20; the servers that are asked answer one after the other. */
const atStart = (answers: number[]) => {
  const clock = virtualClock()
  const info = async () => ({ state: { last_seq: answers.length > 1 ? answers.shift() : answers[0] } })
  const link = { jsm: { streams: { info } } } as unknown as Link
  const registry = { get: async () => ({ value: '20', revision: 1 }) } as unknown as Registry
  const { log } = systemEnvironment()
  return clock.until(natsHighWater(link, namesOf('statecast'), registry, { clock, log }))
}

test('[INV-20] a leader that was voted out and does not know it yet is no reason to refuse a journal that is whole', async () => {
  const mark = await atStart([18, 18, 20])
  await mark.stop()

  await expect(atStart([18])).rejects.toMatchObject({ code: 'corrupt_at', data: { found: 18, known: 20 } })
})

/** Nodes on one registry whose stream is at message 5, and the mark that stands there. @param between what happens once a node has read the mark */
const marking = async (between: () => Promise<unknown> = async () => undefined) => {
  const clock = virtualClock()
  const { registry } = await openMemory({ environment: anEnvironment({ clock }) })
  const link = { jsm: { streams: { info: async () => ({ state: { last_seq: 5 } }) } } } as unknown as Link
  const read = async (key: string) => {
    const found = await registry.get(key)
    await between()
    return found
  }
  const node = (on: Registry = registry) => clock.until(natsHighWater(link, namesOf('statecast'), on, { clock, log: systemEnvironment().log }))
  return { clock, node, slow: { ...registry, get: read }, mark: async () => Number((await registry.get(markKey))?.value ?? 0) }
}

test('[INV-20] a node that has written less than another one never puts the mark back', async () => {
  const { clock, node, mark } = await marking()
  const [far, near] = [await node(), await node()]
  far.reached(20, 5)
  await clock.advance(1_000)
  expect(await mark()).toBe(20)

  near.reached(7, 5)
  await clock.advance(1_000)

  expect(await mark()).toBe(20)
  near.reached(8, 7)
  await near.stop()
  expect(await mark()).toBe(20)
})

test.each([
  ['more', 20, 20],
  ['less', 6, 10],
])('[INV-20] of two nodes that raise the mark at once, where the other has written %s, the higher place stands', async (_, other, stands) => {
  let others: HighWater | undefined
  const { clock, node, slow, mark } = await marking(async () => {
    // It reads and writes while the first one is between its reading and its writing.
    const now = others
    others = undefined
    now?.reached(other, 5)
    await now?.stop()
  })
  const ours = await node(slow)
  others = await node()
  ours.reached(10, 5)

  await clock.advance(1_000)

  expect(await mark()).toBe(stands)
})
