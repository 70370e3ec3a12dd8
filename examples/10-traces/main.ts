/** Traces that were recorded once, as the tests of a machine: of the one that recorded them, and of two edited copies. */
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineApp } from '../../src/index.ts'
import { testTraces } from '../../src/testing/index.ts'
import { refundMachine } from './refund.ts'

const traces = fileURLToPath(new URL('traces', import.meta.url))

/** In a test file this is `test` of vitest or of node:test. */
const cases: { name: string; run: () => Promise<void> }[] = []
const test = (name: string, run: () => Promise<void>) => cases.push({ name, run })

const copies = {
  'as it was recorded': refundMachine(),
  'with a refusal that pays': refundMachine({ afterDenial: 'paying' }),
  'with another limit': refundMachine({ much: 1000 }),
}
for (const [copy, refund] of Object.entries(copies)) {
  console.log(copy)
  cases.length = 0
  testTraces(test, traces, defineApp({ machines: { refund } }))
  for (const { name, run } of cases) {
    const failure = await run().then(
      () => undefined,
      (error: Error) => error.message.split('\n')[0]?.replace(/^\S+: /, ''),
    )
    const trace = relative(traces, name.split(' leads')[0] ?? '')
    console.log(`  ${failure === undefined ? 'passes' : 'fails '}  ${join('traces', trace)}${failure === undefined ? '' : `  ${failure}`}`)
  }
}
