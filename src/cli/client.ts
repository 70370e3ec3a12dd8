/** How commands reach a runtime, be it in this process or in a node that runs already. */
import type { CommandInput, CommandName } from '../contracts/commands.ts'
import { execute } from '../runtime/commands.ts'
import { listen, type OutEvent } from '../runtime/listen.ts'
import type { Runtime } from '../runtime.ts'

export type Subscription = { events: AsyncIterable<OutEvent>; stop(): void }

export type Client = {
  /** Address of the node; undefined when the runtime is in this process and ends with it. */
  readonly url: string | undefined
  /** @throws RuntimeError, the same ones in both forms */
  command<Result, Name extends CommandName = CommandName>(name: Name, input: CommandInput<Name>): Promise<Result>
  /** Resolves when nothing that happens from now on is missed. */
  events(sessionKey: string): Promise<Subscription>
  close(): Promise<void>
}

export const inProcessClient = (runtime: Runtime): Client => ({
  url: undefined,
  command: async <Result>(name: CommandName, input: unknown) => (await execute(runtime, name, input)) as Result,
  events: async (id) => listen(runtime, { kind: 'session', id }),
  close: async () => {
    // Also keeps the process alive until the store has closed: its own thread does not.
    const patience = setTimeout(() => process.exit(), closeMs)
    await runtime.close()
    clearTimeout(patience)
  },
})

/** What is not closed by then is as good as killed, and a kill loses nothing. */
const closeMs = 10_000
