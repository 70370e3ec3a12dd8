/** What there is to look up in a message. */
import { definedOf } from '../../contracts/defined.ts'
import type { IncomingMessage } from '../../contracts/desk.ts'
import type { FileRef } from '../../contracts/file.ts'
import type { Profile } from '../../contracts/profile.ts'
import {
  type LookUpItem,
  type LookUpPlan,
  linksMax,
  type MediaKind,
  mediaKinds,
  type UnderstandingInput,
  type Unread,
} from '../../contracts/understanding.ts'

const urlCharsMax = 2000

/** `[text](link)`: whoever writes that has said what it is. */
const markdownLink = /\[[^[\]]*\]\([^()]*(?:\([^()]*\)[^()]*)?\)/g
const bareLink = /\bhttps?:\/\/[^\s<>"'`{}|\\^]+/gi
/** What ends a sentence is no part of its link. */
const ends = '.,;:!?*_~)]'

const withoutEnd = (link: string): string => {
  let to = link.length
  for (let end = link[to - 1]; end !== undefined && ends.includes(end); end = link[to - 1]) {
    if (end === ')' && link.slice(0, to).split('(').length >= link.slice(0, to).split(')').length) break
    to--
  }
  return link.slice(0, to)
}

const isLoopback = (hostname: string): boolean =>
  /^(?:localhost\.?|.*\.localhost\.?|127\.[\d.]+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f:]*\])$/.test(hostname)
const place = ({ hostname, port, protocol }: URL): string => `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`

/** The first three bare links of a text, each once; those to this machine are left out unless their place is allowed. */
export const linksIn = (text: string, allow: readonly string[] = []): string[] => {
  const links = new Set<string>()
  for (const [found] of text.replace(markdownLink, ' ').matchAll(bareLink)) {
    const link = withoutEnd(found.slice(0, urlCharsMax + 1))
    if (link.length > urlCharsMax || !URL.canParse(link)) continue
    const url = new URL(link)
    if (isLoopback(url.hostname) && !allow.includes(place(url))) continue
    url.hash = ''
    links.add(url.href)
    if (links.size === linksMax) break
  }
  return [...links]
}

const kindOf = ({ mimeType }: FileRef): MediaKind | undefined => mediaKinds.find((kind) => mimeType.startsWith(`${kind}/`))

/** @param profile as it holds for the message @returns undefined where there is nothing, as in most messages */
export const unreadIn = (message: Pick<IncomingMessage, 'id' | 'text' | 'files' | 'annotations'>, { understanding }: Profile): Unread | undefined => {
  if (understanding === undefined) return undefined
  const { id, text, files = [], annotations } = message
  const media = files.flatMap((file): LookUpItem[] => {
    const kind = kindOf(file)
    return kind !== undefined && understanding[kind] ? [{ kind, file }] : []
  })
  const links = understanding.links ? linksIn(text, understanding.allow).map((url): LookUpItem => ({ kind: 'link', url })) : []
  const items = [...media, ...links]
  if (items.length === 0) return undefined
  const isSpoken = text.trim() === '' && files.length === 1 && media[0]?.kind === 'audio'
  return { id, items, ...definedOf({ annotations: isSpoken ? annotations : undefined }) }
}

/** What a content is called that says something of a message, and of which message it does. */
export const lookUpName = (message: string, place: number): string => `${message}:lookup-${place}`
export const lookedUpIn = (name: string): string | undefined => /^(.*):lookup-\d+$/s.exec(name)?.[1]

/** All of them, media first. Those of several messages that are answered together keep the order of these. */
export const plansOf = ({ unread, candidates, ...at }: UnderstandingInput): LookUpPlan[] =>
  unread
    .flatMap(({ id, items, annotations }) =>
      items.map((item, place) => ({
        ...at,
        item,
        id: lookUpName(id, place),
        candidates: candidates[item.kind === 'link' ? 'links' : item.kind] ?? [],
        // What is said in one of several is a part of what they say together.
        ...definedOf({ annotations: unread.length === 1 ? annotations : undefined }),
      })),
    )
    .map((plan, index) => ({ ...plan, index }))
