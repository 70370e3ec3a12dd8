/** The app whose data folders stand here: written by an earlier build (write.ts), opened by this one (earlier.test.ts). */
import { assign, setup } from 'xstate'
import { z } from 'zod'
import { chat } from '../../src/chat/index.ts'
import { agent, createRuntime, tool } from '../../src/index.ts'
import { type TestChannel, testChannel } from '../../src/testing/index.ts'

/** What the model answers first, second …: all that a publisher looks at. */
export const answers = [
  'Hello there.',
  'Put it into a <thinking> tag, then close it. The rest stays.',
  '<think>6 times 7</think>It is 42. <think>sure</think> Yes.',
  'Row, row.\n\nRow, row.\n\nRow, row.',
  'The log says:\nMEDIA: disk.error.txt\nMEDIA: /etc/hosts\nMEDIA: out/chart.png\nThat is all. [[reply_to: x]]',
  'Say [[audio_as_voice]] it. [[reply_to_current]]',
]

const refund = tool({
  name: 'refund',
  description: 'pays money back',
  input: z.object({ amount: z.number() }),
  approval: true,
  execute: ({ amount }) => `refunded ${amount}`,
})

const order = setup({
  types: { context: {} as { items: string[] }, events: {} as { type: 'add'; item: string } | { type: 'place' } },
}).createMachine({
  id: 'order',
  initial: 'open',
  context: { items: [] },
  states: {
    open: {
      on: { add: { actions: assign({ items: ({ context, event }) => [...context.items, event.item] }) }, place: 'placed' },
      after: { 86400000: 'placed' },
    },
    placed: { type: 'final' },
  },
})

const clock = { now: () => Date.now(), setTimeout, clearTimeout } as unknown as Parameters<typeof testChannel>[0]
export const aChannel = (): TestChannel => testChannel(clock)

/** @param folder with the store, and the workspace beside it */
export const open = (folder: string, workspace: string, channel = aChannel()) =>
  createRuntime({
    transport: `embedded:${folder}/store`,
    workspace,
    agents: [
      agent({ name: 'main', model: 'test/model', tools: [refund], approval: { timeoutMs: 0 } }),
      // As an agent is without options: the build of 0600b783 denied its calls after 120 s.
      agent({ name: 'plain', model: 'test/model', tools: [refund] }),
    ],
    models: {
      'test/model': ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role === 'user' && last.text.includes('refund')) return { text: 'I ask first.', calls: [{ name: 'refund', input: { amount: 5 } }] }
        const nth = messages.filter(({ role }) => role === 'assistant').length
        return { text: last?.role === 'tool' ? 'Refunded.' : (answers[nth] ?? `answer ${nth}`) }
      },
    },
    machines: { order },
    extensions: [chat({ channels: [channel] })],
  })
