/** The conversation of a session, for the effects of its turns. */
import { pause } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Message } from '../../contracts/message.ts'
import type { TurnServices } from '../turn/turn.services.ts'

const againMs = 500

/** A store that is away for a while is no failure of the turn: it waits, for as long as anybody wants the answer. */
export const conversation = async (
  { transcripts, environment }: TurnServices,
  session: string,
  upTo: number,
  signal: AbortSignal,
): Promise<Message[]> => {
  for (;;)
    try {
      return await transcripts.read({ kind: 'session', id: session }, upTo)
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'log_unavailable' || !error.retryable || signal.aborted) throw error
      await pause(environment.clock, againMs)
    }
}
