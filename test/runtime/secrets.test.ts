/** What a tool lets slip in an error stays where it was. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { RuntimeError } from '../../src/contracts/errors.ts'
import type { ModelRequest } from '../../src/contracts/model.ts'
import { tool } from '../../src/index.ts'
import type { FramePage } from '../../src/runtime/trace.ts'
import { story } from './harness.ts'

const secrets = [
  `ghp_${'x7'.repeat(18)}`,
  `xoxb-${'1'.repeat(11)}-${'aB3'.repeat(8)}`,
  'hunter2horse',
  `eyJ${'aB3'.repeat(9)}.${'cD4'.repeat(9)}.sig-nature`,
]
const telling = `clone of https://bot:${secrets[2]}@git.local failed: ${secrets[0]} and ${secrets[1]} were refused, ${secrets[3]} too`

test.each<[string, Error]>([
  ['an error', new Error(telling)],
  ['an error whose secret stands where it is cut', new Error(`${'x '.repeat(1975)} ${telling}`)],
  ['a text', telling as unknown as Error],
  ['an error of ours', new RuntimeError('forbidden', telling, { hint: telling, data: { seen: [telling] } })],
])('[INV-18] what a tool throws as %s is told to the model, the journal, the listeners and the log without its secrets', async (_, thrown) => {
  const asked: ModelRequest[] = []
  const fetchTool = tool({ name: 'fetch', description: 'fetches', input: z.object({}), execute: () => Promise.reject(thrown) })
  await using told = await story(
    (request) => {
      asked.push(structuredClone(request))
      return asked.length === 1 ? { calls: [{ name: 'fetch' }] } : { text: 'it failed' }
    },
    { tools: () => [fetchTool] },
  )

  await told.clock.until((await told.say('go')).result())

  const { frames } = await told.runtime.command<FramePage>('trace.frames', { id: 'main' })
  const journal = frames.map(({ bytes }) => Buffer.from(bytes, 'base64').toString('latin1')).join('\n')
  const everything = [journal, JSON.stringify([asked, told.log, told.events('main'), await told.main.history()])].join('\n')
  for (const secret of secrets) expect(everything).not.toContain(secret.slice(0, 12))
  expect(journal).toContain('tool_failed')
})
