/** Options that cannot mean anything are refused before anything is opened, whoever gives them. */
import { expect, test } from 'vitest'
import { createRuntime, defineApp, type RuntimeOptions } from '../../src/index.ts'
import { agent, ladder } from '../../src/ladder/index.ts'

const odd: [string, unknown, string][] = [
  ['roles', ['boss'], 'gateway, session, turn, tool'],
  ['roles', [], 'one or more of gateway, session, turn, tool'],
  ['roles', 'session', 'a list'],
  ['placement', 'nowhere', "'beside' or 'distributed'"],
  ['onDrift', 'ignore', "'refuse' or 'force'"],
  ['resume', 'no', 'true or false'],
  ['replicas', 0, 'from 1 to 5'],
  ['limits', { queueMax: 0 }, 'queueMax'],
  ['limits', { idleMs: Number.NaN }, 'not below 0'],
  ['limits', { crashMax: '5' }, 'numbers by name'],
  ['limits', { idleMilliseconds: 5 }, 'idleMs'],
  ['retention', { idleDays: '7' }, 'idleDays'],
  ['workspace', '', 'folder'],
  ['prefix', 5, 'subjects'],
  ['owner', { pid: 5 }, 'texts'],
  ['transport', {}, 'an open transport'],
  ['transport', '', 'an open transport'],
  ['agents', [{ name: 'main' }], 'agent({ … })'],
  ['agents', 'main', 'agent({ … })'],
  ['agents', [{ name: 'main', profile: {}, limits: {} }], 'agent({ … })'],
  ['machines', { m: {} }, 'createMachine'],
  ['models', { 'my/own': 5 }, 'models by reference'],
  ['agents', [agent({ name: 'mayor' })], 'extensions: [ladder({ executables'],
  ['executables', [agent({ name: 'mayor' })], 'extensions: [ladder({ executables'],
  ['extensions', [ladder], 'call it: extensions: [ladder({ … })]'],
  ['store', 'embedded:./data', "the option `transport` says: 'embedded:<folder>'"],
  ['placment', 'beside', "did you mean 'placement'?"],
]

test.each(odd)('the option %s: %j is refused, with what is allowed', async (name, value, allowed) => {
  const options = { transport: 'memory:', [name]: value } as RuntimeOptions
  const refusal = { code: 'bad_request', field: name, hint: expect.stringContaining(allowed) }

  await expect(createRuntime(options)).rejects.toMatchObject(refusal)
  expect(() => defineApp(options)).toThrow(expect.objectContaining(refusal))
})

test('what is left undefined counts as left out', async () => {
  const runtime = await createRuntime({ transport: 'memory:', roles: undefined, limits: { idleMs: Number.POSITIVE_INFINITY } } as never)

  expect(await runtime.health()).toMatchObject({ ready: true })
  await runtime.close()
})
