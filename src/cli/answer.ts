/** Follows a turn to its answer, which is what goes to stdout. */
import type { RunEvent } from '../runtime/index.ts'
import { onInterrupt } from './interrupt.ts'
import { exitCodes, printJson, reportError } from './output.ts'
import { type Conversation, textsOf } from './say.ts'
import { Words } from './words.ts'

export type Listener = {
  json?: boolean | undefined
  /** @returns whether it has heard enough: then there is no answer to wait for */
  hear(event: RunEvent): boolean
  /** What Ctrl-C does. */
  interrupt(): Promise<unknown>
}

/** @returns the exit code */
export const printAnswer = async (conversation: Conversation, { json = false, hear, interrupt }: Listener): Promise<number> => {
  let interrupted = false
  const words = json ? undefined : new Words(process.stdout)
  const stopListening = onInterrupt(async () => {
    interrupted = true
    await interrupt()
  })
  try {
    for await (const event of conversation.events) {
      if (json) printJson(event)
      words?.hear(event)
      if (hear(event)) return exitCodes.fine
    }
    const output = await conversation.outcome
    words?.finish(output, await textsOf(conversation, output))
    return exitCodes.fine
  } catch (error) {
    words?.breakLine()
    if (interrupted) return exitCodes.interrupted
    reportError(error, { json })
    return exitCodes.failed
  } finally {
    stopListening()
    conversation.stop()
  }
}
