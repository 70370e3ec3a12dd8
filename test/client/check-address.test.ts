/** Addresses that are none are wrong usage, with one that would do; a password in them is not repeated. */
import { expect, test } from 'vitest'
import { checkAddress } from '../../src/client/check-address.ts'

test.each([
  ['nats://127.0.0.1:99999', 'no such port', '1 to 65535'],
  ['nats://u:77777@host:0', 'no such port', '1 to 65535'],
  ['tls://a:4222,b:x', 'no such port', '1 to 65535'],
  ['http://127.0.0.1:65536/', 'no such port', '1 to 65535'],
  ['nats://', 'no host', 'write nats://host:port'],
  ['nats://u:77777@:4222', 'no host', 'write nats://host:port'],
  ['nats://a,', 'no host', 'write nats://host:port'],
  ['http:///path', 'no host', 'write http://host:port'],
  ['127.0.0.1:4222', "'127.0.0.1:4222'", 'nats://127.0.0.1:4222'],
  ['localhost:4222', "'localhost:4222'", 'nats://localhost:4222'],
  ['[::1]:4222', "'[::1]:4222'", 'nats://[::1]:4222'],
  ['nats:/u:77777@host', 'two slashes', 'write nats://host:port'],
])('%s', (url, message, hint) => {
  const refused = expect.objectContaining({ code: 'bad_request', message: expect.stringContaining(message), hint: expect.stringContaining(hint) })

  expect(() => checkAddress(url)).toThrow(refused)
  expect(() => checkAddress(url)).not.toThrow('77777')
})

test.each([
  'nats://127.0.0.1',
  'nats://u:p@a:4222, b:4223,tls://c?inbox_prefix=_INBOX_node',
  'nats://[::1]:4222/',
  'nats-context:prod',
  'http://127.0.0.1:4111/',
  'embedded:4222',
  'embedded:./a:80',
  'embedded:nats://',
  'memory:',
])('%s may be one', (url) => {
  expect(checkAddress(url)).toBe(url)
})
