import { expect, test } from 'vitest'
import { hintCommand } from '../../src/cli/hint.ts'

test('a command to copy goes to the same data, and takes nothing for an option', () => {
  expect(hintCommand({}, 'approvals')).toBe('statecast approvals')
  expect(hintCommand({ url: 'nats://127.0.0.1:4222' }, 'approve', 'main', 'm-1:1:1')).toBe(
    'statecast approve --url nats://127.0.0.1:4222 main m-1:1:1',
  )
  expect(hintCommand({ data: './my data' }, 'trace --follow', 'a; b')).toBe("statecast trace --follow --url 'embedded:./my data' 'a; b'")
  expect(hintCommand({ url: 'embedded:./my data' }, 'history', '-x')).toBe("statecast history --url 'embedded:./my data' -- '-x'")
})
