/** What a process really writes when it logs. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { logWith, stderrLogger } from '../../src/runtime/system-environment.ts'
import { repository } from '../tidy/sources.ts'

const secret = 'k7Jq-not-to-be-read'

/** What a process that logs this writes on its standard error. */
const logged = (fields: object): string => {
  const program = `import { stderrLogger } from './src/runtime/system-environment.ts'; stderrLogger('info').error(JSON.parse(process.env.FIELDS), 'a call failed')`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: repository,
    encoding: 'utf8',
    env: { ...process.env, FIELDS: JSON.stringify(fields) },
  })
  return stderr
}

test('[INV-18] a secret in the middle of a text is not written either, whatever its field is called', () => {
  const text = logged({ error: { message: `postgres://app:${secret}@db.local refused Bearer ${secret}` }, line: [`password=${secret}`] })

  expect(text).not.toContain(secret)
  expect(JSON.parse(text)).toMatchObject({
    error: { message: 'postgres://[redacted]@db.local refused Bearer [redacted]' },
    line: ['password=[redacted]'],
  })
})

test('[INV-18] a secret in the fields of a log line is not written, however deep it stands there, and the rest is', () => {
  const names = ['apiKey', 'api_key', 'token', 'authorization', 'Authorization', 'password', 'secret']
  const all = (value: string) => Object.fromEntries(names.map((name) => [name, value]))

  const text = logged({ ...all(secret), error: { ...all(secret), code: 'provider_auth', data: all(secret) }, provider: 'home' })

  const line = JSON.parse(text) as Record<string, unknown>
  expect(text).not.toContain(secret)
  expect(line).toMatchObject({ msg: 'a call failed', provider: 'home', ...all('[redacted]'), error: { code: 'provider_auth', ...all('[redacted]') } })
})

test('what no line is written of is not even looked at, also through loggers that add fields', () => {
  const log = logWith(stderrLogger('warn'), () => ({ node: 'n' }))
  const untouched = new Proxy({}, { ownKeys: () => expect.unreachable('somebody looked') })

  log.debug(untouched)
  log.info(untouched)

  expect((['debug', 'info', 'warn', 'error'] as const).map((level) => log.enabled?.(level))).toEqual([false, false, true, true])
  expect(() => log.warn(untouched)).toThrow('somebody looked')
})
