/** The conversation of a session, or one inside another actor, for the effects of its turns. */
import { pause } from '../../contracts/environment.ts'
import { isRuntimeError } from '../../contracts/errors.ts'
import type { Message } from '../../contracts/message.ts'
import { parseAddress } from '../../contracts/subjects.ts'
import type { TurnServices } from '../turn/turn.services.ts'
import type { Conversation } from './inner.rules.ts'

const againMs = 500

type Asked = { session: string; conversation?: string | undefined }

/** @param key of the effect that asks: it begins with the address of its actor */
export const placeOf = ({ session, conversation }: Asked, { key }: { key: string }): Conversation =>
  conversation === undefined ? { kind: 'session', id: session } : { ...parseAddress(key.split('/', 2).join('/')), conversation }

/** A store that is away for a while is no failure of the turn: it waits, for as long as anybody wants the answer. */
export const conversation = async (
  { transcripts, environment }: TurnServices,
  place: Conversation,
  upTo: number,
  signal: AbortSignal,
): Promise<Message[]> => {
  for (;;)
    try {
      return await transcripts.read(place, upTo)
    } catch (error) {
      if (!isRuntimeError(error) || error.code !== 'log_unavailable' || !error.retryable || signal.aborted) throw error
      await pause(environment.clock, againMs)
    }
}
