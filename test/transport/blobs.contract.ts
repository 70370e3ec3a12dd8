import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { bytesOf, textOf } from './harness.ts'
import type { Suite } from './transport.contract.ts'

export const blobsContract = ({ claim, open, reopen }: Suite): void => {
  claim('bytes are found by the hash of their content, also after a reopen', async () => {
    const first = await open()

    const hash = await first.blobs.put(bytesOf('a long document'))
    const second = await reopen(first)

    expect(hash).toBe(createHash('sha256').update('a long document').digest('hex'))
    expect(textOf(await second.blobs.get(hash))).toBe('a long document')
  })

  claim('the same content is one blob, also when it is put many times at once', async () => {
    const { blobs } = await open()

    const hashes = await Promise.all(Array.from({ length: 10 }, () => blobs.put(bytesOf('same'))))

    expect(new Set(hashes).size).toBe(1)
    expect(textOf(await blobs.get(hashes[0]!))).toBe('same')
  })

  claim('an empty blob is a blob', async () => {
    const { blobs } = await open()

    expect(await blobs.get(await blobs.put(new Uint8Array()))).toHaveLength(0)
  })

  claim('an unknown hash is not_found, and what is no hash is bad_request', async () => {
    const { blobs } = await open()

    await expect(blobs.get('0'.repeat(64))).rejects.toMatchObject({ code: 'not_found' })
    for (const hash of ['', '../../owner.json', 'A'.repeat(64), `${'0'.repeat(62)}/.`])
      await expect(blobs.get(hash)).rejects.toMatchObject({ code: 'bad_request' })
  })

  claim('what is deleted is not there any more, also after a reopen, and can be put again', async () => {
    const first = await open()
    const kept = await first.blobs.put(bytesOf('kept'))
    const gone = await first.blobs.put(bytesOf('gone'))

    await first.blobs.delete(gone)
    await first.blobs.delete(gone)

    expect(await first.blobs.has(gone)).toBe(false)
    await expect(first.blobs.get(gone)).rejects.toMatchObject({ code: 'not_found' })
    const second = await reopen(first)
    expect([await second.blobs.has(kept), await second.blobs.has(gone)]).toEqual([true, false])
    await expect(second.blobs.has('../secret')).rejects.toMatchObject({ code: 'bad_request' })
    await expect(second.blobs.delete('../secret')).rejects.toMatchObject({ code: 'bad_request' })
    expect(await second.blobs.put(bytesOf('gone'))).toBe(gone)
    expect(textOf(await second.blobs.get(gone))).toBe('gone')
  })

  claim('a blob of several megabytes comes back whole', async () => {
    const { blobs } = await open()
    const bytes = new Uint8Array(3_000_000).map((_, index) => index % 251)

    expect(Buffer.compare(await blobs.get(await blobs.put(bytes)), bytes)).toBe(0)
  })
}
