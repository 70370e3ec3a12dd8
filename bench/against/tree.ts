/**
 * Scripted turns on the sources of any tree, through its public index alone: the same harness drives the working tree and the baseline, each with the
 * packages of its own `node_modules`.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Channel, Environment, Transport } from '../../src/index.ts'
import { delta, instantModel, type Message, script } from '../script.ts'

/** Few, so that the turn weighs more than its deltas: `test/bench/counts.test.ts` watches what one delta costs. */
const deltas = 10
const answer = delta.repeat(deltas)

export type Tree = {
  openTransport(url: string, options?: { environment?: Environment }): Promise<Transport>
  start(options: StartOptions): Promise<Started>
}
/** `channel`: messages come from a chat channel that gets typing signs and blocks. */
type StartOptions = { transport: string | Transport; environment?: Partial<Environment>; channel?: boolean }
export type Started = { turn(session: string, message: Message): Promise<void>; close(): Promise<void> }

/** Accepts every delivery at once. */
const instantChannel: Channel = {
  id: 'instant',
  markdown: true,
  textMax: 4000,
  repeatable: true,
  settings: { streaming: true },
  send: () => Promise.resolve(undefined),
  typing: () => Promise.resolve(),
}

/** @param root the folder of a tree with `src/index.ts` and `node_modules` */
export const openTree = async (root: string): Promise<Tree> => {
  const load = <Module>(path: string) => import(pathToFileURL(join(root, path)).href) as Promise<Module>
  const { agent, createRuntime, openTransport, tool } = await load<typeof import('../../src/index.ts')>('src/index.ts')
  const { z } = await load<typeof import('zod')>('node_modules/zod/index.js')
  const { name, description, output } = script.tool
  const weather = tool({ name, description, input: z.object({ city: z.string() }), execute: () => output, onCrash: 'retry' })
  return {
    openTransport,
    async start({ transport, environment = {}, channel = false }) {
      const runtime = await createRuntime({
        transport,
        environment,
        agents: [agent({ name: 'main', model: 'bench/instant', instructions: 'x', tools: [weather] })],
        models: { 'bench/instant': instantModel(Array<string>(deltas).fill(delta)) },
        ...(channel ? { channels: [instantChannel] } : {}),
      })
      let sent = 0
      return {
        async turn(session, message) {
          const options = channel ? { origin: { channel: instantChannel.id, to: session, messageId: `m${sent++}` } } : {}
          const run = await runtime.session(session).send(message, options)
          let received = 0
          for await (const event of run.events()) if (event.type === 'delta') received += event.text.length
          const { text } = await run.result()
          if (text !== answer || received !== answer.length) throw new Error(`${message} turn: ${received} characters in deltas, answer '${text}'`)
        },
        close: () => runtime.close(),
      }
    },
  }
}
