/** Chat without a terminal: each line is said when the one before is answered; only the answers go to stdout. */
import { textMax } from '../contracts/session.ts'
import { approvalNeeded, toolCard } from './cards.ts'
import type { ChatOptions } from './chat.ts'
import type { Client } from './client.ts'
import { onInterrupt } from './interrupt.ts'
import { linesOf } from './lines.ts'
import { dim, exitCodes, hasColour, note, print, printable, printJson, reportError } from './output.ts'
import { say } from './say.ts'

export const chatThroughPipe = async (client: Client, { session, agent, model, url, json = false }: ChatOptions): Promise<number> => {
  let code: number = exitCodes.fine
  let stop: (() => void) | undefined
  const interrupted = new AbortController()
  const stopListening = onInterrupt(async () => {
    interrupted.abort()
    process.stdin.destroy()
    await client.command('chat.abort', { sessionKey: session }).catch(() => undefined)
    stop?.()
  })

  /** @returns whether the next line may follow */
  const answer = async (message: string): Promise<boolean> => {
    const conversation = await say(client, session, { message, ...(agent ? { agent } : {}), ...(model ? { model } : {}) })
    stop = conversation.stop
    try {
      for await (const event of conversation.events) {
        if (json) printJson(event)
        else if (event.type === 'tool' && hasColour(process.stderr)) note(dim(toolCard(event)))
        if (event.type === 'approval') {
          reportError(approvalNeeded(session, event, url), { json })
          return false
        }
      }
      const { text } = await conversation.outcome
      if (!json) print(printable(text, 'lines'))
      return true
    } finally {
      conversation.stop()
    }
  }

  try {
    for await (const line of linesOf(process.stdin, textMax + 1)) {
      if (line.trim() === '') continue
      try {
        if (await answer(line)) continue
        return exitCodes.failed
      } catch (error) {
        if (interrupted.signal.aborted) break
        reportError(error, { json })
        code = exitCodes.failed
      }
    }
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
  } finally {
    stopListening()
  }
  return interrupted.signal.aborted ? exitCodes.interrupted : code
}
