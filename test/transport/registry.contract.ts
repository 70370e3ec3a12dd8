import { expect, vi } from 'vitest'
import { anEnvironment } from './harness.ts'
import type { Suite } from './transport.contract.ts'

export const registryContract = ({ claim, open, reopen }: Suite): void => {
  claim('a key holds the last value, under a revision that always rises', async () => {
    const { registry } = await open()

    const first = await registry.put('limits/model', '10')
    const second = await registry.put('limits/model', '20')
    await registry.delete('limits/model')
    const third = await registry.put('limits/model', '30')

    expect(second).toBeGreaterThan(first!)
    expect(third).toBeGreaterThan(second!)
    expect(await registry.get('limits/model')).toEqual({ value: '30', revision: third })
    expect(await registry.get('limits')).toBeUndefined()
  })

  claim('of many who create one key at the same time exactly one is first', async () => {
    const { registry } = await open()

    const revisions = await Promise.all(Array.from({ length: 20 }, (_, index) => registry.put('lease/1', `node ${index}`, { expected: 0 })))

    expect(revisions.filter((revision) => revision !== undefined)).toHaveLength(1)
  })

  claim('a put or delete that expects another revision changes nothing', async () => {
    const { registry } = await open()
    const revision = (await registry.put('lease/1', 'mine'))!

    const answers = [
      await registry.put('lease/1', 'theirs', { expected: revision + 1 }),
      await registry.put('lease/1', 'theirs', { expected: 0 }),
      await registry.delete('lease/1', { expected: revision + 1 }),
      await registry.delete('lease/2'),
    ]

    expect(answers).toEqual([undefined, undefined, false, false])
    expect(await registry.get('lease/1')).toEqual({ value: 'mine', revision })
    expect(await registry.put('lease/1', 'renewed', { expected: revision })).toBeGreaterThan(revision)
    expect(await registry.delete('lease/1')).toBe(true)
  })

  claim('keys are listed by prefix, in order, also after a reopen', async () => {
    const first = await open()
    for (const key of ['node/b', 'node/a', 'nod', 'lease/a', 'node%']) await first.registry.put(key, `of ${key}`)

    const { registry } = await reopen(first)

    expect((await registry.list('node')).map(({ key, value }) => [key, value])).toEqual([
      ['node%', 'of node%'],
      ['node/a', 'of node/a'],
      ['node/b', 'of node/b'],
    ])
    expect((await registry.list('')).length).toBe(5)
    expect(await registry.list('x')).toEqual([])
  })

  claim('a watcher hears every later change under its prefix, in order, until it stops', async () => {
    const { registry } = await open()
    await registry.put('node/0', 'before')
    const heard: unknown[] = []
    const stop = registry.watch('node/', (change) => void heard.push(change))

    const revision = await registry.put('node/1', 'up')
    await registry.put('lease/1', 'elsewhere')
    await registry.put('node/1', 'refused', { expected: 0 })
    await registry.delete('node/1')
    await vi.waitFor(() => expect(heard).toHaveLength(2))
    stop()
    await registry.put('node/2', 'unheard')

    expect(heard).toEqual([{ key: 'node/1', value: 'up', revision }, expect.objectContaining({ key: 'node/1', value: undefined })])
  })

  claim('a watcher hears the newest value of each key under its prefix, in the end', async () => {
    const { registry } = await open()
    const newest = new Map<string, string | undefined>()
    registry.watch('node/', ({ key, value }) => void newest.set(key, value))

    for (const value of ['joining', 'up', 'leaving']) for (const node of ['1', '2']) await registry.put(`node/${node}`, value)
    await registry.delete('node/2')
    await registry.put('lease/1', 'elsewhere')

    await vi.waitFor(() => expect(Object.fromEntries(newest)).toEqual({ 'node/1': 'leaving', 'node/2': undefined }))
  })

  claim('a watcher that throws is logged and disturbs nobody', async () => {
    const environment = anEnvironment()
    const { registry } = await open({ environment })
    const heard: string[] = []
    registry.watch('', () => {
      throw new Error('broken')
    })
    registry.watch('', ({ key }) => void heard.push(key))

    await registry.put('a', '1')

    await vi.waitFor(() => expect(heard).toEqual(['a']))
    expect(environment.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  claim('a key with a time to live expires, its watchers hear it, and it can be taken again', async () => {
    const { registry } = await open()
    const heard: unknown[] = []
    registry.watch('lease/', (change) => void heard.push(change))

    const revision = await registry.put('lease/1', 'mine', { ttlMs: 20 })
    await vi.waitFor(() => expect(heard).toHaveLength(2))

    expect(heard).toEqual([{ key: 'lease/1', value: 'mine', revision }, expect.objectContaining({ key: 'lease/1', value: undefined })])
    expect(await registry.get('lease/1')).toBeUndefined()
    expect(await registry.list('lease/')).toEqual([])
    expect(await registry.put('lease/1', 'theirs', { expected: 0 })).toBeDefined()
  })

  claim('whoever watches a key with a time to live hears in the end that it has expired', async () => {
    const { registry } = await open()
    let heard: unknown
    registry.watch('lease/', (change) => {
      heard = change
    })

    await registry.put('lease/1', 'mine', { ttlMs: 20 })

    await vi.waitFor(() => expect(heard).toEqual(expect.objectContaining({ key: 'lease/1', value: undefined })))
    expect(await registry.get('lease/1')).toBeUndefined()
    expect(await registry.list('lease/')).toEqual([])
    expect(await registry.put('lease/1', 'theirs', { expected: 0 })).toBeDefined()
  })

  claim('a key whose time ran out while nothing was open is gone', async () => {
    const first = await open()
    await first.registry.put('lease/1', 'mine', { ttlMs: 1 })
    await first.registry.put('lease/2', 'mine', { ttlMs: 60_000 })

    await first.close()
    const { registry } = await reopen(first)

    // A server may look but once a second.
    await vi.waitFor(async () => expect(await registry.get('lease/1')).toBeUndefined())
    expect(await registry.get('lease/2')).toMatchObject({ value: 'mine' })
  })

  claim('what is no key is refused', async () => {
    const { registry } = await open()

    for (const key of ['', 'a b', 'a\u0000', 'a*', '>', 'x'.repeat(2_000)])
      await expect(registry.put(key, '1')).rejects.toMatchObject({ code: 'bad_request' })
    await expect(registry.put('big', 'x'.repeat(1024 * 1024 + 1))).rejects.toMatchObject({ code: 'too_large' })
  })
}
