/** Which addresses a link may lead to, and which texts of a link are refused before anybody is asked for an address. */
import { expect, test } from 'vitest'
import { checkUrl } from '../../../src/chat/understanding/guarded-url.ts'
import { isPublicAddress } from '../../../src/chat/understanding/public-address.ts'
import { isRuntimeError } from '../../../src/contracts/errors.ts'

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '239.1.1.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',

  '64:ff9b:1::a00:1',
  '2001::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '100::1',
  '5f00::1',
  '3fff::1',
  '',
  'localhost',
  '127.1',
  '2130706433',
])('[CH-21] %s is no address of the public internet', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.0.1',
  '172.32.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
])('%s is one', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

const refusal = (link: string, allow: string[] = []): string | undefined => {
  try {
    checkUrl(new URL(link), new Set(allow))
    return undefined
  } catch (error) {
    return isRuntimeError(error) ? error.code : String(error)
  }
}

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://127.1/',
  'http://0/',
  'http://127.0.0.1./',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[2002:7f00:1::]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://a.localhost/',
  'http://metadata.google.internal/',
  'http://router.lan/',
  'http://intranet/',
  'http://user:secret@example.com/',
  'http://user@example.com/',
  'http://example.com:22/',
  'https://example.com:6379/',
  'http://１２７.0.0.1/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'data:text/plain,hi',
  'http://169.254.169.254/latest/meta-data/',
])('[CH-21] %s is refused before anything is connected to', (link) => {
  expect(refusal(link)).toBe('link_refused')
})

test('pages of the internet are not refused, and what an operator allows is allowed at that port alone', () => {
  expect(
    ['https://example.com/a?b=c', 'http://example.com:8080/', 'http://1.1.1.1/', 'https://[2606:4700::1111]/'].map((link) => refusal(link)),
  ).toEqual(Array(4).fill(undefined))
  expect(refusal('http://127.0.0.1:9000/', ['127.0.0.1:9000'])).toBeUndefined()
  expect(refusal('http://127.0.0.1:9001/', ['127.0.0.1:9000'])).toBe('link_refused')
  expect(refusal('http://me:secret@127.0.0.1:9000/', ['127.0.0.1:9000'])).toBe('link_refused')
})
