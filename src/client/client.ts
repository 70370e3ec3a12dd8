/** How commands reach a runtime, be it in this process or in a node that runs already. */

import type { CommandInput, CommandName } from '../contracts/commands.ts'
import type { OutEvent } from '../runtime/index.ts'

export type Subscription = { events: AsyncIterable<OutEvent>; stop(): void }

export type Client = {
  /** Address of the node; undefined when the runtime is in this process and ends with it. */
  readonly url: string | undefined
  /** ms for which nobody may answer before a run is given up; for a connection that mends itself, with others who take over. Default 0. */
  readonly outageMsMax?: number
  /** Events come over a bus on which others may speak too: an end that is heard there is a sign, and no more. */
  readonly untrusted?: boolean
  /** No event gets lost on its way here while a subscription lasts. */
  readonly lossless?: boolean
  /** @throws RuntimeError, the same ones in all forms */
  command<Result, Name extends CommandName = CommandName>(name: Name, input: CommandInput<Name>): Promise<Result>
  /**
   * Resolves when nothing that happens from now on is missed. The events end when there can be no more: the connection or the node has ended.
   * @param after place of the last durable event that was seen, `seq.part.birth`: those since come first
   */
  events(sessionKey: string, after?: string): Promise<Subscription>
  /** Stores a message for the node that runs next, and starts nothing. Only where no node runs. @throws RuntimeError as `chat.send` does */
  store?(input: CommandInput<'chat.send'> & { idempotencyKey: string }): Promise<void>
  /** Resolves when nobody has anything to do any more, or after `timeoutMs`. Only where this process does it. */
  settled?(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}
