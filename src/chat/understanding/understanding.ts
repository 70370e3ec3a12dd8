/** Looks at links and media with those whom `chat()` names for that. Which of them is asked, and when the next one is, the charts say. */
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Origin } from '../../contracts/reply.ts'
import { type LookUpInput, type MediaKind, mediaKinds, type Understanding, type UnderstandingProfile } from '../../contracts/understanding.ts'
import type { ExtensionParts } from '../../runtime/index.ts'
import { describeWithModel } from './describe-with-model.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { LinkHandler, LinkOptions, MediaCandidate, MediaOptions } from './options.ts'
import { readableHtml } from './readable-html.rules.ts'
import { spokenOrder } from './spoken-order.rules.ts'

/** As chat() was told, with what is usual. */
export type UnderstandingOptions = { links?: LinkOptions | true | undefined; media?: MediaOptions | undefined }

const handlersOf = (links: UnderstandingOptions['links']): readonly LinkHandler[] =>
  links === undefined ? [] : links === true ? ['read'] : (links.handlers ?? ['read'])
const allowedBy = (links: UnderstandingOptions['links']): readonly string[] => (typeof links === 'object' ? (links.allow ?? []) : [])
/** One of links, or a candidate: a string is its own name. */
const nameOf = (one: MediaCandidate | Exclude<LinkHandler, string>): string => (typeof one === 'string' ? one : 'model' in one ? one.model : one.name)

/** What stands in the journal with each message: who will be asked. Undefined where nobody is. */
export const understandingProfile = ({ links, media = {} }: UnderstandingOptions): UnderstandingProfile | undefined => {
  const kinds = mediaKinds.flatMap((kind) => (media[kind] ? [[kind, media[kind].map(nameOf)] as const] : []))
  const handlers = handlersOf(links).map(nameOf)
  if (kinds.length === 0 && handlers.length === 0) return undefined
  const allow = [...allowedBy(links)]
  return { ...(handlers.length > 0 && { links: handlers }), ...(allow.length > 0 && { allow }), ...Object.fromEntries(kinds) }
}

const unknownCandidate = (name: string): RuntimeError =>
  new RuntimeError('unsupported', `'${name}' is not configured on this node`, { hint: 'give all nodes the same chat({ links, media })' })

export const understandingOf = ({ links, media = {} }: UnderstandingOptions, parts: Pick<ExtensionParts, 'models' | 'session'>): Understanding => {
  const allow = new Set(allowedBy(links))
  const read = async (url: string, signal: AbortSignal): Promise<string> => {
    const { text, mimeType, cut } = await guardedFetch(url, { allow }, signal)
    const readable = mimeType === 'text/html' || mimeType === 'application/xhtml+xml' ? readableHtml(text) : text
    return cut ? `${readable}\n(there is more of it)` : readable
  }
  const lookAtLink = (url: string, candidate: string, signal: AbortSignal): string | Promise<string> => {
    const handler = handlersOf(links).find((one) => nameOf(one) === candidate)
    if (handler === undefined) throw unknownCandidate(candidate)
    return handler === 'read' ? read(url, signal) : handler.read(url, { signal, read: (other) => read(other, signal) })
  }
  const lookAtFile = (
    { kind, file }: Extract<LookUpInput['item'], { kind: MediaKind }>,
    candidate: string,
    content: Uint8Array,
    signal: AbortSignal,
  ): string | Promise<string> => {
    const found = media[kind]?.find((one) => nameOf(one) === candidate)
    if (found === undefined) throw unknownCandidate(candidate)
    const asked = typeof found === 'string' ? { model: found } : found
    if (asked.bytesMax !== undefined && file.bytes > asked.bytesMax)
      throw new RuntimeError('too_large', `it has ${file.bytes} bytes, and ${candidate} is given ${asked.bytesMax}`)
    if ('model' in asked) return describeWithModel(parts.models, asked, { kind, file, content }, signal)
    return asked.describe({ bytes: content, mimeType: file.mimeType, fileName: file.fileName }, { signal })
  }

  return {
    kinds: mediaKinds.filter((kind) => media[kind] !== undefined),
    async lookUp({ item, candidate, annotations }, { content = new Uint8Array(), signal }) {
      const said: unknown = await (item.kind === 'link' ? lookAtLink(item.url, candidate, signal) : lookAtFile(item, candidate, content, signal))
      if (typeof said !== 'string') throw new RuntimeError('bad_request', `'${candidate}' did not answer with a text`)
      const text = said.toWellFormed()
      const origin = annotations?.origin as Origin | undefined
      return { text, ...definedOf({ order: origin && spokenOrder(text, origin.authorised !== false) }) }
    },
    async say({ session, agent, message, text, annotations }) {
      const origin = annotations.origin as Origin | undefined
      await parts.session(session, { agent }).command({ type: 'message', text, id: `${message}:spoken`, ...definedOf({ origin }) })
    },
  }
}
