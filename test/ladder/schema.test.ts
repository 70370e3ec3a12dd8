/** Schemas whose own code fails: of any library, and checks of an author within them. */
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { agent, END, lenient, type Schema, supervisor, workflow } from '../../src/ladder/index.ts'
import { aLadderOf } from './a-ladder.ts'

const schemaOf = (validate: () => unknown) => ({ '~standard': { version: 1, vendor: 'own', validate } }) as unknown as Schema<string>
const broken: Record<string, Schema<string>> = {
  throws: schemaOf(() => {
    throw new TypeError('no ink')
  }),
  rejects: schemaOf(() => Promise.reject(new Error('no ink'))),
  'gives nothing': schemaOf(() => undefined),
  'gives issues that are none': schemaOf(() => ({ issues: 'no' })),
  'gives an issue that is none': schemaOf(() => ({ issues: [null] })),
  'gives paths of anything': schemaOf(() => ({ issues: [{ message: 5n, path: [Symbol('a'), null, { key: null }] }] })),
  'has a check that rejects': z.string().refine(() => Promise.reject(new Error('no ink'))),
  'has a check that throws': z.string().refine(() => {
    throw new Error('no ink')
  }),
}
const models = { 'test/a': () => ({ text: 'so it is' }) }
type Place = { name: string; execute(input: string): Promise<{ error?: object }> }
/** Each place where one may stand. */
const places: Record<string, (name: string, schema: Schema<string>) => Place> = {
  'an input': (name, schema) => agent({ name, model: 'test/a', input: schema }),
  'an answer': (name, schema) => agent({ name, model: 'test/a', output: lenient(schema) }),
  'a step': (name, schema) => workflow({ name, steps: [{ name: 'one', run: () => 'x', output: { schema } }] }),
}

test.for(Object.entries(places))('[WL-003] of %s: a schema whose code fails, however, is an error of the run and nothing else', async ([, made]) => {
  const all = Object.entries(broken).map(([how, schema], index) => ({ how, it: made(`it-${index}`, schema) }))
  await using kit = await aLadderOf(models, ...all.map(({ it }) => it as never))
  for (const { how, it } of all) {
    const { error } = await kit.clock.until(it.execute('go'))
    expect(error, how).toMatchObject({ code: 'SCHEMA_VALIDATION_FAILED', category: 'validation' })
  }
})

test('[WL-003, WL-091] of an intent: it is an error of its branch, and the run goes on', async () => {
  const all = Object.entries(broken).map(([how, schema], index) => {
    const intents = { one: { run: () => ({}), output: schema as never } }
    return { how, it: supervisor({ name: `it-${index}`, intents, initialAgent: 'one', route: () => END }) }
  })
  await using kit = await aLadderOf(models, ...all.map(({ it }) => it))
  for (const { how, it } of all) {
    const { error, report } = await kit.clock.until(it.execute('go'))
    expect(error, how).toBeUndefined()
    const failed = { status: 'failed', error: { code: 'SCHEMA_VALIDATION_FAILED', category: 'validation' } }
    expect(report, how).toMatchObject({ terminatedBy: 'route', iterations: [{ branches: { one: failed } }] })
  }
})

test('[WL-003] a check that waits is asked once', async () => {
  const check = vi.fn(async () => true)
  const it = agent({ name: 'it', model: 'test/a', input: z.string().refine(check) })
  await using kit = await aLadderOf(models, it)
  expect(await kit.clock.until(it.execute('go'))).toMatchObject({ data: 'so it is' })
  expect(check).toHaveBeenCalledOnce()
})
