/** What users hold of a runtime, and that it is all: its parts are for the storeys inside. */
import { expect, expectTypeOf, test } from 'vitest'
import { createRuntime, type Runtime } from '../../src/runtime.ts'
import { filesUnder, textOf } from '../tidy/sources.ts'

type Names =
  | 'subjects'
  | 'models'
  | 'log'
  | 'tracing'
  | 'session'
  | 'actor'
  | 'publish'
  | 'onGrowth'
  | 'command'
  | 'keyOf'
  | 'accessOf'
  | 'scopeOf'
  | 'config'
  | 'events'
  | 'shared'
  | 'shown'
  | 'trace'
  | 'replay'
  | 'registration'
  | 'health'
  | 'metrics'
  | 'settled'
  | 'ended'
  | 'nodes'
  | 'drainNode'
  | 'drain'
  | 'close'
  | 'onSessionChange'

const names: Record<Names, true> = {
  subjects: true,
  shared: true,
  shown: true,
  models: true,
  log: true,
  tracing: true,
  session: true,
  actor: true,
  publish: true,
  command: true,
  keyOf: true,
  accessOf: true,
  scopeOf: true,
  config: true,
  events: true,
  trace: true,
  replay: true,
  registration: true,
  health: true,
  metrics: true,
  settled: true,
  ended: true,
  onSessionChange: true,
  onGrowth: true,
  nodes: true,
  drainNode: true,
  drain: true,
  close: true,
}

test('a runtime has what its interface names and nothing beside it, for the compiler and for whoever looks into it', async () => {
  expectTypeOf<keyof Runtime>().toEqualTypeOf<Names | typeof Symbol.asyncDispose>()
  await using runtime = await createRuntime({ transport: 'memory:', environment: { log: silent } })

  expect(
    Reflect.ownKeys(runtime)
      .filter((key) => typeof key === 'string')
      .sort(),
  ).toEqual(Object.keys(names).sort())
  expect(Object.keys(runtime.models).sort()).toEqual(['defaultRef', 'get', 'list'])
  expect(Object.keys(runtime.session('s')).sort()).toEqual(['address', 'key'])
})

test('within src only the test kit asks a runtime for its parts: everybody else is handed what they need', () => {
  const asking = filesUnder('src').filter((file) => /import \{[^}]*\bpartsOf\b/.test(textOf(file)))

  expect(asking).toEqual(['src/testing/runtime.ts'])
})

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
