/** Checksums and hashes stand in journals, so a browser has to come to the same bytes as Node. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as browser from '../../src/actors/native.browser.ts'
import * as node from '../../src/actors/native.ts'
import { casesOf } from '../support/property.ts'

test('the CRC-32 of any bytes is the same in a browser', () => {
  expect(browser.crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
      expect(browser.crc32(bytes)).toBe(node.crc32(bytes))
    }),
    casesOf(import.meta.url),
  )
})

test('the SHA-256 of any text is the same in a browser, half characters and all lengths around a block included', () => {
  const same = (text: string): void => {
    expect(Buffer.from(browser.sha256(text)).toString('hex')).toBe(Buffer.from(node.sha256(text)).toString('hex'))
  }
  for (let length = 0; length <= 200; length++) same('a'.repeat(length))
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 500 }), (units) => {
      same(String.fromCharCode(...units))
    }),
    casesOf(import.meta.url),
  )
  same('long '.repeat(200_000))
})
