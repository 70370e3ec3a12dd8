/** What is looked at before a model is asked: the links of a message, and what there is to see and to hear in it. */
import { z } from 'zod'
import type { Logger } from './environment.ts'
import type { FileRef } from './file.ts'

export const mediaKinds = ['image', 'audio', 'video'] as const
export type MediaKind = (typeof mediaKinds)[number]

/** Of one message. */
export const linksMax = 3
/** Candidates for one kind. */
export const candidatesMax = 10

const Candidates = z.array(z.string().min(1).max(200)).min(1).max(candidatesMax)
/** Names of those who are asked, in this order, until one answers. */
export const UnderstandingProfile = z.strictObject({
  links: Candidates.optional().describe('who reads the links of a message'),
  allow: z.array(z.string().max(300)).max(100).optional().describe('places that links may lead to though they are not public: host:port'),
  image: Candidates.optional().describe('who says what is to be seen in its images'),
  audio: Candidates.optional().describe('who writes down what is said in its recordings'),
  video: Candidates.optional().describe('who says what happens in its videos'),
})
export type UnderstandingProfile = z.infer<typeof UnderstandingProfile>

export type LookUpItem = { kind: 'link'; url: string } | { kind: MediaKind; file: FileRef }

/** A message with something to look up. `annotations` where what is said in it may be an order. */
export type Unread = { id: string; items: LookUpItem[]; annotations?: Record<string, unknown> }

type Place = { session: string; runId: string; agent: string }
export type UnderstandingInput = Place & { unread: Unread[]; candidates: UnderstandingProfile }
/** One item and who may be asked about it. `id` names what comes of it in the journal. */
export type LookUpPlan = Place & { id: string; index: number; item: LookUpItem; candidates: string[]; annotations?: Record<string, unknown> }
/** @property candidate who is asked now */
export type LookUpInput = Omit<LookUpPlan, 'candidates' | 'index'> & { candidate: string }
/** It stands in the journal: nobody looks a second time. `order`: what was said is one, and is sent as a message of its own. */
export type LookUpOutput = { kind: 'lookup'; id: string; text: string; by: string; order?: string }
/** A message is said whose text was spoken in another one. */
export type SpokenInput = Place & { message: string; text: string; annotations: Record<string, unknown> }

/** What a look-up comes to; no content where nobody could say anything. */
export type LookUpReport = { type: 'lookup.ended'; index: number; id?: string; order?: string }
/** What could be said of a message, by the names of the contents. Senders choose the ids, so these are no keys of an object. */
export type Looked = { id: string; names: string[] }
/** `spoken`: they were orders, and need no answer of their own. */
export type UnderstandingReport = { type: 'understood'; ids: string[]; found: Looked[]; spoken: boolean }

/** Who does it. */
export interface Understanding {
  /** Kinds of media that are worth being taken in, beside images. */
  readonly kinds: readonly MediaKind[]
  /**
   * What one candidate says of a link or a file.
   * @param content of the file @returns the text, and as an order what of it is one of a person @throws where it cannot say anything; never later than its signal
   */
  lookUp(request: LookUpInput, about: { content?: Uint8Array; signal: AbortSignal; log: Logger }): Promise<{ text: string; order?: string }>
  /** Sends what was spoken as a message of its own; once, however often it is asked for. */
  say(spoken: SpokenInput): Promise<void>
}
