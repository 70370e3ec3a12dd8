/**
 * What Node computes faster than JavaScript can. A bundle for a browser has native.browser.ts in the place of this file (`browser` in package.json), which makes
 * the same bytes: checksums and signatures stand in journals.
 */
import { hash } from 'node:crypto'
import { crc32 as crc } from 'node:zlib'

export const crc32 = (bytes: Uint8Array): number => crc(bytes)

/** Of the text as UTF-8, where half a character counts as U+FFFD. */
export const sha256 = (text: string): Uint8Array => hash('sha256', text, 'buffer')
