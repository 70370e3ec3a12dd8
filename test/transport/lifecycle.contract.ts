import { expect } from 'vitest'
import { aSession, awake, bytesOf } from './harness.ts'
import type { Suite } from './transport.contract.ts'

const nothing = new Uint8Array()

export const lifecycleContract = ({ claim, open, reopen }: Suite): void => {
  claim('closing waits for the appends that are in flight', async () => {
    const first = await open()
    const flying = Array.from({ length: 20 }, (_, index) => first.journal.append(aSession(`${index}`), 0, bytesOf('a'), awake))

    const closing = first.close()
    const answers = await Promise.all(flying)
    await closing
    const second = await reopen(first)

    expect(answers.every(({ outcome }) => outcome === 'ok')).toBe(true)
    expect(await second.journal.list()).toHaveLength(20)
  })

  claim('a closed transport refuses everything with closed, and may be closed twice', async () => {
    const { journal, bus, inbox, registry, blobs, close, health } = await open()

    await Promise.all([close(), close()])
    await close()

    const answers = await Promise.allSettled([
      journal.append(aSession(), 0, nothing, awake),
      journal.read(aSession(), 1),
      journal.due(0, 1),
      journal.saveSnapshot(aSession(), 1, nothing),
      bus.request('a', nothing, { timeoutMs: 5 }),
      bus.requestMany('a', nothing, { timeoutMs: 5 })[Symbol.asyncIterator]().next(),
      inbox.put('a', '1', nothing),
      inbox.deadLetters(),
      registry.get('a'),
      registry.put('a', '1'),
      blobs.put(nothing),
      blobs.get('0'.repeat(64)),
    ])
    for (const answer of answers) expect(answer).toMatchObject({ reason: { code: 'closed' } })
    for (const call of [
      () => bus.publish('a', nothing),
      () => bus.subscribe('a', () => undefined),
      () => registry.watch('', () => undefined),
      () => inbox.consume('>', async () => undefined),
    ])
      expect(call).toThrow(expect.objectContaining({ code: 'closed' }))
    expect((await health()).writable).toBe(false)
  })

  claim('a request that waits when its transport closes ends with closed', async () => {
    const transport = await open()
    transport.bus.subscribe('silent', () => undefined)
    const asked = [
      transport.bus.request('silent', nothing, { timeoutMs: 60_000 }),
      transport.bus.requestMany('silent', nothing, { timeoutMs: 60_000 })[Symbol.asyncIterator]().next(),
    ]

    const answers = await Promise.allSettled([...asked, transport.close()])

    for (const answer of answers.slice(0, 2)) expect(answer).toMatchObject({ reason: { code: 'closed' } })
  })

  claim('an open transport tells its health and its durability', async () => {
    const transport = await open()

    const health = await transport.health()

    expect(health.writable).toBe(true)
    expect(health.durability).not.toBe('')
  })
}
