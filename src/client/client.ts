/** How commands reach a runtime, be it in this process or in a node that runs already. */

import { type CommandInput, type CommandName, commands } from '../contracts/commands.ts'
import { parseInput } from '../contracts/parse.ts'
import type { OutEvent, Runtime } from '../runtime/index.ts'

export type Subscription = { events: AsyncIterable<OutEvent>; stop(): void }

export type Client = {
  /** Address of the node; undefined when the runtime is in this process and ends with it. */
  readonly url: string | undefined
  /** ms for which nobody may answer before a turn is given up; for a connection that mends itself, with others who take over. Default 0. */
  readonly outageMsMax?: number
  /** Events come over a bus on which others may speak too: an end that is heard there is a sign, and no more. */
  readonly hearsay?: boolean
  /** @throws RuntimeError, the same ones in both forms */
  command<Result, Name extends CommandName = CommandName>(name: Name, input: CommandInput<Name>): Promise<Result>
  /** Resolves when nothing that happens from now on is missed. */
  events(sessionKey: string): Promise<Subscription>
  /** Stores a message for the node that runs next, and starts nothing. Only where no node runs. @throws RuntimeError as `chat.send` does */
  store?(input: CommandInput<'chat.send'> & { idempotencyKey: string }): Promise<void>
  /** Resolves when nobody has anything to do any more, or after `timeoutMs`. Only where this process does it. */
  settled?(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

/** What else a runtime of this process does for other commands while it lasts. */
export type Share = {
  /** Takes nothing new. */
  drain(): Promise<void>
  /** Ends all connections; to be called when the runtime has closed, so that whoever waits for it has been told. */
  close(): Promise<void>
}

/** @param share what else has to end with it */
export const inProcessClient = (runtime: Runtime, share?: Share): Client => ({
  url: undefined,
  command: <Result>(name: CommandName, input: unknown) => runtime.command<Result>(name, input),
  events: async (id) => runtime.events({ kind: 'session', id }),
  store: async (input) => {
    const { sessionKey, message: text, idempotencyKey: id, agent, model, queueMode } = parseInput(commands['chat.send'], input)
    // What is wrong shall be known now, not when nobody waits for it.
    const { address } = runtime.session(sessionKey, agent === undefined ? {} : { agent })
    if (model !== undefined) await runtime.models.get(model)
    const message = { type: 'message', text, id, agent, model, queueMode }
    await runtime.publish(runtime.subjects.in(address), new TextEncoder().encode(JSON.stringify(message)), id)
  },
  settled: (timeoutMs) => runtime.settled(timeoutMs),
  close: async () => {
    // Also keeps the process alive until the store has closed: its own thread does not.
    const patience = setTimeout(() => process.exit(), closeMs)
    await share?.drain()
    await runtime.close()
    await share?.close()
    clearTimeout(patience)
  },
})

/** What is not closed by then is as good as killed, and a kill loses nothing. */
const closeMs = 10_000
