/** What a model asks for within its text: files to send, a voice message, the message to answer (OC-78). */
import { noReferences, type References } from '../../contracts/references.ts'
import type { Payload } from '../../contracts/reply.ts'
import { codeTracker } from './code.rules.ts'
import { visibleText } from './visible-text.rules.ts'

/** A piece of text without its directives. @property refused addresses on media lines that may not be sent: those lines stay text */
export type Directed = Pick<Payload, 'replyTo' | 'replyTagged' | 'voice'> & { text: string; media: string[]; refused: string[] }

/**
 * @property messageId the message that is being answered, for `[[reply_to_current]]`
 * @property references what the text refers to; without it, that is known at its end
 * @property earlier reads the text as builds did that recorded no references: whatever looks like a directive is one, and goes
 */
export type DirectiveOptions = { messageId?: string; references?: References; earlier?: boolean }

/** Whether the text may hold a directive. */
export const mayDirect = (text: string): boolean => /\[\[|MEDIA:/.test(text)

/** Whether something that a directive names exists. `undefined`: not known before the end of the text. */
type Exists = { file(path: string): boolean | undefined; message(id: string): boolean | undefined }

const existsIn = ({ files, messages }: References): Exists => ({
  file: (path) => files.includes(withoutDot(path)),
  message: (id) => messages.includes(id),
})
const notKnownYet: Exists = { file: () => undefined, message: () => undefined }
const allExist: Exists = { file: () => true, message: () => true }
const withoutDot = (path: string): string => path.replace(/^(?:\.[/\\])+/, '')

/** The files and messages that directives of an answer name, whether they exist or not. */
export const referencesNamed = (text: string): References => {
  const files = new Set<string>()
  const messages = new Set<string>()
  const noted: Exists = { file: (path) => files.add(withoutDot(path)).size > 0, message: (id) => messages.add(id).size > 0 }
  // What is shown depends on a setting of the channel.
  for (const finalOnly of [false, true]) {
    const { push, end } = visibleText({ finalOnly })
    const directives = reader({}, noted)
    directives.push(push(text) + end())
    directives.end()
  }
  return { files: [...files], messages: [...messages] }
}

/** Two pieces that follow each other, as one; of two targets the later one counts. */
export const joinDirected = (before: Directed, next: Directed): Directed => ({
  ...before,
  ...next,
  text: before.text + next.text,
  media: [...before.media, ...next.media],
  refused: [...before.refused, ...next.refused],
})

/** The directives of a finished text. */
export const parseModelDirectives = (text: string, options: DirectiveOptions = {}): Directed => {
  const { push, end } = modelDirectives({ ...options, references: options.references ?? noReferences })
  return joinDirected(push(text), end())
}

/**
 * Incremental: `MEDIA: <address>` on a line of its own, `[[audio_as_voice]]`, `[[reply_to_current]]` and `[[reply_to: id]]` are taken out of
 * the text, where what they name exists; in code they stay. What may turn out to be one is held back until that is known, so that no part of one is
 * ever seen. From a directive whose target is not known before the end of the text, all of it waits for the end.
 */
export const modelDirectives = (options: DirectiveOptions = {}) =>
  reader(options, options.earlier ? allExist : options.references ? existsIn(options.references) : notKnownYet)

const reader = ({ messageId, earlier = false }: DirectiveOptions, known: Exists) => {
  const code = codeTracker()
  let exists = known
  /** Text behind a directive of which nothing is known yet, and whether there is one. */
  let later: string[] = []
  let waits = false
  let waiting = ''
  /** The white space that a tag leaves behind: none, blanks, or the rest of a line on which it stood alone. */
  let swallowed: 'nothing' | 'blanks' | 'line' = 'nothing'
  let skipsLine = false
  /** The current line looked like a media line, and is none. */
  let isTextLine = false
  let last = '\n'

  const read = (ended: boolean): Directed => {
    const directed = nothing()
    let at = 0

    const keep = (length: number): void => {
      const text = waiting.slice(at, at + length)
      code.pass(text)
      directed.text += text
      last = text.at(-1) ?? last
      isTextLine &&= !text.includes('\n')
      at += length
    }
    /** @returns undefined while that is not known */
    const targetExists = ({ kind, id }: Tag): boolean | undefined =>
      kind === 'voice' || id === undefined || id === messageId ? true : exists.message(id)
    const apply = ({ kind, id, length }: Tag): void => {
      if (kind === 'voice') directed.voice = true
      else {
        const replyTo = id ?? messageId
        if (replyTo !== undefined) Object.assign(directed, { replyTo, replyTagged: true })
      }
      at += length
    }
    /** @returns whether there was one */
    const takeMedia = (begin: number): boolean | 'unfinished' => {
      const newline = waiting.indexOf('\n', begin)
      const end = newline < 0 ? waiting.length : newline
      if (end - begin > addressCharsMax) {
        if (!earlier) return false
        directed.refused.push(`${waiting.slice(begin, begin + 100).trim()}…`)
        skipsLine = true
        at = end
        return true
      }
      if (newline < 0 && !ended) return 'unfinished'
      const tags: Tag[] = []
      const address = bare(waiting.slice(begin, end), tags)
      const judged = judge(address)
      if (judged === 'text') return false
      if (judged === 'refused' && !earlier) {
        directed.refused.push(address)
        return false
      }
      const isThere = isWebAddress(address) ? true : exists.file(address)
      const targets = tags.map(targetExists)
      if (isThere === undefined || targets.includes(undefined)) {
        waits = true
        return 'unfinished'
      }
      if (!isThere || targets.includes(false)) return false
      for (const tag of tags) apply(tag)
      directed[judged].push(address)
      at = Math.min(end + 1, waiting.length)
      return true
    }

    while (at < waiting.length) {
      const next = waiting[at]
      if (skipsLine) {
        const newline = waiting.indexOf('\n', at)
        at = newline < 0 ? waiting.length : newline + 1
        skipsLine = newline < 0
        continue
      }
      if (swallowed !== 'nothing') {
        if (next === ' ' || next === '\t' || (next === '\n' && swallowed === 'line')) at++
        if (next !== ' ' && next !== '\t') swallowed = 'nothing'
        continue
      }
      const kept = code.keptAt(waiting, at, ended)
      if (kept === undefined) break
      if (kept > 0) {
        keep(kept)
        continue
      }
      if (code.atLineStart() && !isTextLine) {
        const media = mediaAt(waiting, at)
        if (media === 'unfinished' && !ended) break
        const taken = typeof media === 'number' ? takeMedia(media) : false
        if (taken === 'unfinished') break
        if (taken) continue
        isTextLine = typeof media === 'number'
      }
      const tag = next === '[' ? tagAt(waiting, at) : undefined
      if (tag === 'unfinished') {
        if (!ended) break
        if (earlier && /^\[\[[ \t]*[a-z]/i.test(waiting.slice(at))) at = waiting.length
        else keep(waiting.length - at)
        continue
      }
      const isThere = tag && targetExists(tag)
      if (tag && isThere === undefined) {
        waits = true
        break
      }
      if (tag && isThere) {
        apply(tag)
        swallowed = last === '\n' ? 'line' : /\s/.test(last) ? 'blanks' : 'nothing'
        continue
      }
      // White space that begins a line is taken singly: a media line may follow it.
      keep(code.atLineStart() && (next === ' ' || next === '\t') ? 1 : nextMark(waiting, at + 1) - at)
    }
    waiting = waiting.slice(at)
    return directed
  }

  return {
    push(delta: string): Directed {
      if (waits) {
        later.push(delta)
        return nothing()
      }
      waiting += delta
      return read(false)
    },
    /** @param references what the text refers to, where that was not known before */
    end(references: References = noReferences): Directed {
      if (exists === notKnownYet) exists = existsIn(references)
      waiting += later.join('')
      later = []
      return read(true)
    },
  }
}

const nothing = (): Directed => ({ text: '', media: [], refused: [] })

/** Where plain text may end: at code, at a tag, and behind a newline, where a media line may begin. */
const nextMark = (text: string, from: number): number => {
  if (text[from - 1] === '\n') return from
  const marks = /[`~[\n]/g
  marks.lastIndex = from
  const found = marks.exec(text)
  return found ? found.index + Number(found[0] === '\n') : text.length
}

type Tag = { kind: 'voice' | 'reply'; id: string | undefined; length: number }

const wholeTag = /\[\[[ \t]{0,10}(?:(audio_as_voice|reply_to_current)|reply_to[ \t]{0,10}:([^[\]\n]{1,200}))[ \t]{0,10}\]\]/iy
/** What all tags begin with, up to the place where a text breaks off. */
const unfinishedTag =
  /^\[(?:\[[ \t]{0,10}(?:([a-z_]*)|(?:audio_as_voice|reply_to_current)[ \t]{0,10}\]?|reply_to[ \t]{0,10}(?::[^[\]\n]{0,210}\]?)?))?$/i
const tagCharsMax = 260

const tagAt = (text: string, at: number): Tag | 'unfinished' | undefined => {
  wholeTag.lastIndex = at
  const [found, word, id] = wholeTag.exec(text) ?? []
  if (found !== undefined && (word !== undefined || id?.trim()))
    return { kind: word?.toLowerCase() === 'audio_as_voice' ? 'voice' : 'reply', id: id?.trim(), length: found.length }
  if (found !== undefined || text.length - at > tagCharsMax) return undefined
  const begun = unfinishedTag.exec(text.slice(at))
  const letters = begun?.[1]?.toLowerCase() ?? ''
  return begun && ['audio_as_voice', 'reply_to_current'].some((name) => name.startsWith(letters)) ? 'unfinished' : undefined
}

const addressCharsMax = 2000
const isWebAddress = (address: string): boolean => /^https?:\/\//i.test(address)

/** Where the address on a media line begins that itself begins at `at`. */
const mediaAt = (text: string, at: number): number | 'unfinished' | undefined => {
  const [begun = '', word] = /^[ \t]{0,20}(M?E?D?I?A?:?)/.exec(text.slice(at, at + 30)) ?? []
  if (word === 'MEDIA:') return at + begun.length
  return word !== undefined && 'MEDIA:'.startsWith(word) && at + begun.length === text.length ? 'unfinished' : undefined
}

/** The address without the tags, quotes and brackets that models put around it. */
const bare = (line: string, tags: Tag[]): string => {
  let address = ''
  for (let at = 0; at < line.length; ) {
    const tag = line[at] === '[' ? tagAt(line, at) : undefined
    if (typeof tag === 'object') tags.push(tag)
    address += typeof tag === 'object' ? '' : line[at]
    at += typeof tag === 'object' ? tag.length : 1
  }
  const trimmed = address.trim()
  const [, , inner] = /^(["'`])(.*)\1$/.exec(trimmed) ?? []
  return (inner ?? /^<(.*)>$/.exec(trimmed)?.[1] ?? trimmed).trim()
}

/**
 * Web addresses and paths below the folder of the session may be sent. A path that begins elsewhere, leads out of it or has another scheme
 * is refused; what looks like neither is a sentence.
 */
const judge = (address: string): 'media' | 'refused' | 'text' => {
  if (/\p{Cc}/u.test(address)) return 'refused'
  if (isWebAddress(address)) return URL.canParse(address) && !/\s/.test(address) ? 'media' : 'refused'
  if (/^(?:[/\\~]|[a-z][a-z0-9+.-]*:\S)/i.test(address)) return 'refused'
  if (address.split(/[/\\]/).some((part) => part.replaceAll(/%2e/gi, '.') === '..')) return 'refused'
  return /\.(?=[0-9]*[a-z])[a-z0-9]{1,10}$/i.test(address) ? 'media' : 'text'
}
