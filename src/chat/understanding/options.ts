/** Who looks at the links and media of messages, as `chat()` is told it. */
import { z } from 'zod'
import { ModelReference } from '../../contracts/model-ref.ts'
import { candidatesMax, type MediaKind } from '../../contracts/understanding.ts'

type About = { signal: AbortSignal }

/** Says what a link leads to: `read` is ours, the text of the page. */
export type LinkHandler =
  | 'read'
  | {
      /** What it is called in traces and the log. */
      name: string
      /** @param about.read fetches a text of the public internet as we do @returns what the model is told @throws for the next handler to be asked */
      read(url: string, about: About & { read(url: string): Promise<string> }): string | Promise<string>
    }

export type LinkOptions = {
  /** Asked in this order until one answers. Default: `read`. */
  handlers?: readonly LinkHandler[]
  /** Places that may be fetched from though they are not public, such as `wiki.local:8080`. Default: none. */
  allow?: readonly string[]
}

type Limit = {
  /** Larger files are not given to it: the next candidate is asked. Default: the limit of the kind. */
  bytesMax?: number
}

/** Says what is in a file: a model by its reference, or code. */
export type MediaCandidate =
  | string
  | ({ model: string /** What it is asked for. */; prompt?: string } & Limit)
  | ({
      /** What it is called in traces and the log. */
      name: string
      describe(file: { bytes: Uint8Array; mimeType: string; fileName: string }, about: About): string | Promise<string>
    } & Limit)

/** By kind, those who are asked, in this order until one answers. */
export type MediaOptions = Partial<Record<MediaKind, readonly MediaCandidate[]>>

const callable = z.custom<(...given: never[]) => unknown>((value) => typeof value === 'function', 'must be a function')
const Name = z.string().min(1).max(80)
const limit = { bytesMax: z.number().int().min(1).optional() }
const Place = z.string().regex(/^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253}):[0-9]{1,5}$/, "must be a place such as 'wiki.local:8080', in lower case")

export const Links = z.union([
  z.literal(true),
  z.strictObject({
    handlers: z
      .array(z.union([z.literal('read'), z.strictObject({ name: Name, read: callable })]))
      .min(1)
      .max(candidatesMax)
      .optional(),
    allow: z.array(Place).max(100).optional(),
  }),
])

const Candidates = z
  .array(
    z.union([
      ModelReference,
      z.strictObject({ model: ModelReference, prompt: z.string().min(1).max(4000).optional(), ...limit }),
      z.strictObject({ name: Name, describe: callable, ...limit }),
    ]),
  )
  .min(1)
  .max(candidatesMax)
export const Media = z.strictObject({ image: Candidates, audio: Candidates, video: Candidates }).partial()
