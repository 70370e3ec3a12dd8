/** The messages that a streamed answer is sent in: what is one, which are the same, and what of the whole answer is left to send. */
import type { Payload } from '../../contracts/reply.ts'

/** Whether there is anything to send: text, media, a voice message, or data for the channel (OC-74). */
export const isRenderable = ({ text = '', media = [], voice, data }: Payload): boolean =>
  text.trim() !== '' || media.length > 0 || voice === true || (data !== undefined && Object.keys(data).length > 0)

/** Two payloads with the same key say the same to the same (OC-61). */
export const payloadKey = ({ text = '', media = [], replyTo = '' }: Payload, nth = 1): string =>
  JSON.stringify([text.trim(), media, replyTo, ...(nth === 1 ? [] : [nth])])

/** @property sent keys of the blocks that were delivered @property complete no block failed or was dropped @property aborted streaming gave up */
type Streamed = { sent: string[]; complete: boolean; aborted: boolean }

/** What of the whole answer is still to be sent after its blocks: nothing if they said it all, else what was not delivered (OC-65). */
export const finalsLeft = ({ sent, complete, aborted }: Streamed, finals: Payload[]): Payload[] =>
  sent.length > 0 && complete && !aborted ? [] : finals.filter((payload) => !sent.includes(payloadKey(payload)))

/** Sound waits for the end of the answer, since only then is known how it is to be played (OC-63). */
export type HeldAudio = { held: Payload[]; voice: boolean }
/** Nothing is held yet. */
export const noAudio: HeldAudio = { held: [], voice: false }

/** @returns the payload under `send`, unless it is one that waits */
export const holdAudio = ({ held, voice }: HeldAudio, payload: Payload): { state: HeldAudio; send: Payload[] } => {
  const waits = payload.media?.some(isAudio) ?? false
  return {
    state: { held: waits ? [...held, payload] : held, voice: voice || payload.voice === true },
    send: waits ? [] : [payload],
  }
}

/** All that waits: as voice messages if any payload so far asked for one. */
export const releaseAudio = ({ held, voice }: HeldAudio): Payload[] => (voice ? held.map((payload) => ({ ...payload, voice: true })) : held)

/** Judged by the ending of an address or path. */
export const isAudio = (address: string): boolean => /\.(?:mp3|ogg|oga|opus|m4a|aac|wav|flac|weba|amr)(?:[?#]|$)/i.test(address)
