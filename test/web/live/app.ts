/** An app for people at a browser: its story stops in the middle until the file `go` is there, and one tool asks a person. */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { agent, defineApp, type Model, scriptedModel, tool } from '../../../src/index.ts'
import { orderMachine } from './order.machine.ts'

const refund = tool({
  name: 'refund',
  description: 'Gives money back.',
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: true,
  execute: ({ amount }) => `refunded ${amount}`,
})
const add = tool({
  name: 'add',
  description: 'adds',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
  onCrash: 'retry',
})

const lines = tool({
  name: 'lines',
  description: 'many lines',
  input: z.object({}),
  execute: () => Array.from({ length: 20_000 }, (_, line) => `row ${line}`).join('\n'),
  onCrash: 'retry',
})

const code = ['```ts', ...Array.from({ length: 200 }, (_, line) => `const line${line} = ${line} // <script>alert(1)</script>`), '```'].join('\n')

/** As answers of models are: a list, a table, code. */
const rich = (said: string): string =>
  [
    `echo ${said}`,
    '- *one* thing',
    '- `another`',
    '',
    '| a | b |',
    '| --- | --- |',
    `| ${said} | 2 |`,
    '',
    '```ts',
    `const said = '${said}'`,
    '```',
  ].join('\n')

const talk = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool' && last.name === 'lines') return { text: 'Many lines.' }
  if (last?.role === 'tool') return { text: `It is done: ${JSON.stringify(last.output)}` }
  const text = last?.role === 'user' ? last.text : ''
  if (text === 'refund') return { text: 'I ask first.', calls: [{ name: 'refund', input: { order: '20417', amount: 49.9 } }] }
  if (text === 'lines') return { calls: [{ name: 'lines', input: {} }] }
  if (text === 'sum') return { calls: [{ name: 'add', input: { a: 2, b: 40 } }] }
  if (text === 'code') return { text: `Here:\n\n${code}\n\nand $x^2$, *so*.` }
  if (text === 'megabyte') return { text: 'A sentence of a very long answer. '.repeat(30_000) }
  if (text.startsWith('number ')) return { text: rich(text) }
  if (text === 'fail') return { error: { status: 401 } }
  return { text: `echo ${text}`, reasoning: text === 'think' ? 'let me see' : '' }
})

const half = (from: number): string => Array.from({ length: 100 }, (_, index) => `w${from + index}`).join(' ')

const model: Model = {
  ...talk,
  async call(request, how) {
    const last = request.messages.at(-1)
    if (last?.role !== 'user' || last.text !== 'story') return talk.call(request, how)
    const text = `${half(1)} ${half(101)}`
    for (const word of half(1).split(' ')) {
      how.onDelta({ kind: 'text', text: `${word} ` })
      await pause(2, undefined, { signal: how.signal })
    }
    while (!existsSync('go')) await pause(20, undefined, { signal: how.signal })
    for (const word of half(101).split(' ')) how.onDelta({ kind: 'text', text: word === 'w101' ? word : ` ${word}` })
    return { ...(await talk.call(request, { ...how, onDelta: () => undefined })), text }
  },
}

export default defineApp({
  agents: [agent({ name: 'main', model: 'test/talk', tools: [refund, add, lines] })],
  models: { 'test/talk': model },
  machines: { order: orderMachine },
})
