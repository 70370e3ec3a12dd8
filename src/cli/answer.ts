/** Follows a turn to its answer, which is what goes to stdout. */
import type { Followed } from '../client/index.ts'
import type { RunEvent } from '../runtime/index.ts'
import { onInterrupt } from './interrupt.ts'
import { exitCodes, printJson, reportError } from './output.ts'
import { streams } from './surroundings.ts'
import { Words } from './words.ts'

type Listener = {
  json?: boolean | undefined
  /** @returns whether it has heard enough: then there is no answer to wait for */
  hear(event: RunEvent): boolean
  /** What Ctrl-C does. */
  interrupt(): Promise<unknown>
}

/** @returns the exit code */
export const printAnswer = async (followed: Followed, { json = false, hear, interrupt }: Listener): Promise<number> => {
  let interrupted = false
  const words = json ? undefined : new Words(streams().stdout)
  const stopListening = onInterrupt(async () => {
    interrupted = true
    await interrupt()
  })
  try {
    for await (const event of followed.events) {
      if (json) printJson(event)
      words?.hear(event)
      if (hear(event)) return exitCodes.fine
    }
    const output = await followed.outcome
    words?.finish(output, await followed.texts(output))
    return exitCodes.fine
  } catch (error) {
    words?.breakLine()
    if (interrupted) return exitCodes.interrupted
    reportError(error, { json })
    return exitCodes.failed
  } finally {
    stopListening()
    followed.stop()
  }
}
