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
}
