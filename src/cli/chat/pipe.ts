/** Chat without a terminal: each line is said when the one before is answered; only the answers go to stdout. */

import { type Client, type Followed, follow, followRun } from '../../client/index.ts'
import { textMax } from '../../contracts/text.ts'
import type { RunEvent } from '../../runtime/index.ts'
import { approvalNeeded, progressText } from '../cards.ts'
import { originHere } from '../directives.ts'
import { followedFrom, resumeSession, sessionOf } from '../follow.ts'
import type { ChatOptions } from '../globals.ts'
import { onInterrupt } from '../interrupt.ts'
import { linesOf } from '../lines.ts'
import { dim, exitCodes, hasColour, note, printable, printJson, reportError } from '../output.ts'
import { streams } from '../surroundings.ts'
import { Blocks } from './blocks.ts'

const tellProgress = (event: RunEvent): void => {
  const text = progressText(event)
  if (text !== undefined) note(dim(text))
}

/**
 * The turn that a killed process left, and that this one resumes. A line of stdin joins it; without one its answer is all that is printed.
 * What keeps the session from resuming is the answer to the first line.
 */
const resumed = async (client: Client, sessionKey: string): Promise<string | undefined> => {
  try {
    const view = await sessionOf(client, sessionKey)
    const runId = view && (await resumeSession(client, sessionKey, view))
    return client.url === undefined ? runId : undefined
  } catch {
    return undefined
  }
}

export const chatThroughPipe = async (client: Client, options: ChatOptions): Promise<number> => {
  const { session, agent, model, json = false } = options
  const { stdin, stdout, stderr } = streams()
  let code: number = exitCodes.fine
  let stop: (() => void) | undefined
  const interrupted = new AbortController()
  const stopListening = onInterrupt(async () => {
    interrupted.abort()
    stdin.destroy()
    await client.command('chat.abort', { sessionKey: session }).catch(() => undefined)
    stop?.()
  })

  /** @returns whether the next line may follow */
  const answer = async (followed: Followed): Promise<boolean> => {
    stop = followed.stop
    const blocks = json ? undefined : new Blocks(stdout)
    try {
      for await (const event of followed.events) {
        blocks?.hear(event)
        if (json) printJson(event)
        else if (event.type === 'notice') note(dim(printable(event.text, 'lines')))
        else if (event.type === 'block' && event.kind === 'tool') note(dim(printable(event.payload.text ?? '', 'lines')))
        else if (event.type !== 'tool' || hasColour(stderr)) tellProgress(event)
        if (event.type === 'approval') {
          reportError(approvalNeeded(session, event, options), { json })
          return false
        }
      }
      blocks?.finish(await followed.outcome)
      return true
    } finally {
      followed.stop()
    }
  }

  try {
    let cut = await resumed(client, session)
    for await (const line of linesOf(stdin, textMax + 1)) {
      if (line.trim() === '') continue
      cut = undefined
      try {
        const message = { sessionKey: session, message: line, origin: originHere(session), agent, model }
        if (await answer(await follow(client, message, followedFrom(options)))) continue
        return exitCodes.failed
      } catch (error) {
        if (interrupted.signal.aborted) break
        reportError(error, { json })
        code = exitCodes.failed
      }
    }
    if (cut !== undefined) {
      const run = { sessionKey: session, runId: cut, resume: async () => undefined }
      if (!(await answer(await followRun(client, run, followedFrom(options))))) code = exitCodes.failed
    }
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
  } finally {
    stopListening()
  }
  return interrupted.signal.aborted ? exitCodes.interrupted : code
}
