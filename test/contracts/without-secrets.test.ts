import { expect, test } from 'vitest'
import { logWithout, withoutSecrets } from '../../src/contracts/redact.ts'

const secrets = ['secret-1', 'secret-1-longer', 'on']

test('values are taken out of texts wherever they stand in data; short ones are words like others', () => {
  const value = { a: 'x secret-1-longer y', b: [{ 'key secret-1': 'on' }, 1, null], c: 'upon' }

  expect(withoutSecrets(value, secrets)).toEqual({ a: 'x [redacted] y', b: [{ 'key [redacted]': 'on' }, 1, null], c: 'upon' })
  expect(withoutSecrets(value, [])).toBe(value)
})

test('nothing that is logged holds one, errors included', () => {
  const lines: unknown[] = []
  const write = (...line: unknown[]) => void lines.push(line)
  const log = { debug: write, info: write, warn: write, error: write }

  logWithout(log, secrets).warn({ error: new Error('with secret-1') }, 'secret-1')

  expect(JSON.stringify(lines)).toContain('with [redacted]')
  expect(JSON.stringify(lines)).not.toContain('secret-1')
  expect(logWithout(log, [])).toBe(log)
})
