/** Messages of a request as the model is told them: all but the newest one as lines that nobody can forge, since each is one JSON object. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { Attachment } from '../../contracts/file.ts'
import { cleaned, isWhole, nulMessage, textMax, wholeOnly } from '../../contracts/text.ts'
import { decodedContent } from '../../runtime/index.ts'

/** A message of a request; what a tool call holds beside its text stands there too. */
export type Told = {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  name?: string
  content?: string
  tool_calls?: { id?: string; name: string; arguments: string }[]
  tool_call_id?: string
  /** Of the newest message; of older ones their names stand in the content. */
  files?: Attachment[]
}

const ahead = 'What was said before, the oldest first, one JSON object a line:'
const now = 'The newest message, which is to be answered:'
const goOn = 'The last of them are results of the tools that were called: go on from there.'

/** A message with those that were said before it. @throws RuntimeError too_large */
export const toldText = (before: readonly Told[], text: string, field: string): string => {
  const lines = before.map((told) => JSON.stringify(told))
  const whole = lines.length === 0 ? text : [ahead, ...lines, '', ...(text === '' && endsWithResult(before) ? [goOn] : [now, text])].join('\n')
  if (whole.length <= textMax) return whole
  throw new RuntimeError('too_large', `the messages have ${whole.length} characters together, and may have ${textMax}`, {
    field,
    hint: "let the conversation stand here: name it in the header 'x-statecast-session', and send its newest message only",
    data: { openai: 'context_length_exceeded' },
  })
}

const spoken = ({ role }: Told): boolean => role !== 'system' && role !== 'developer'
const endsWithResult = (told: readonly Told[]): boolean => told.findLast(spoken)?.role === 'tool'

/** Messages with the fields in which they stand. */
export type ToldAt = { told: Told; at: string }

/** The newest message of the user, and all the others; no text where results of tools stand behind it. @throws RuntimeError bad_request */
export const newestOf = (messages: readonly ToldAt[], field: string): { before: Told[]; text: string; files: Attachment[] } => {
  if (endsWithResult(messages.map(({ told }) => told))) return { before: messages.map(({ told }) => withoutFiles(told)), text: '', files: [] }
  const index = messages.findLastIndex(({ told }) => told.role === 'user')
  const newest = messages[index]
  if (newest === undefined) throw refused('there is no message of the user', field, 'the newest message is what is answered')
  const behind = messages.slice(index + 1)
  // Instructions may stand anywhere.
  const wrong = behind.find(({ told }) => told.role === 'assistant')
  if (wrong !== undefined)
    throw refused(
      `the newest message is of the role '${wrong.told.role}'`,
      wrong.at,
      'end with a message of the user or with results of tools: the answers of the agent cannot be begun for it',
    )
  const text = newest.told.content ?? ''
  const { files = [] } = newest.told
  if (text === '' && files.length === 0) throw refused('the newest message is empty', newest.at, 'say something')
  if (!isWhole(text)) throw refused(`the newest message ${wholeOnly}`, newest.at, 'mend the text')
  if (text.includes('\0')) throw refused(`the newest message ${nulMessage}`, newest.at, 'leave it out')
  return { before: [...messages.slice(0, index), ...behind].map(({ told }) => withoutFiles(told)), text, files }
}

/** What was sent earlier the model is told of: what is in it goes with its own message. */
const withoutFiles = ({ files, ...told }: Told): Told => {
  if (files !== undefined)
    return { ...told, content: [told.content ?? '', ...files.map(({ fileName = 'a file' }) => `[${fileName} was sent here]`)].join(' ').trim() }
  return typeof told.content === 'string' ? { ...told, content: cleaned(told.content) } : told
}

const textTypes = new Set<unknown>(['text', 'input_text', 'output_text', 'refusal'])

/** The text of a content, in one piece or in parts. @throws RuntimeError bad_request for what is no text */
export const contentText = (content: unknown, field: string): string => {
  const { text, files } = contentOf(content, field)
  if (files.length > 0) throw refused('a file cannot stand here', field, 'files go with messages of the user')
  return text
}

/** What a message of a role holds: files may go with one of the user. */
export const saidBy = (role: string, content: unknown, field: string): { content: string; files?: Attachment[] } => {
  if (role !== 'user') return { content: contentText(content, field) }
  const { text, files } = contentOf(content, field)
  return files.length === 0 ? { content: text } : { content: text, files }
}

/** The text and the files of a content. @throws RuntimeError bad_request for what is neither */
const contentOf = (content: unknown, field: string): { text: string; files: Attachment[] } => {
  if (content === undefined || content === null) return { text: '', files: [] }
  if (typeof content === 'string') return { text: content, files: [] }
  if (!Array.isArray(content)) throw refused('a content must be a text, or a list of parts', field, "write { type: 'text', text } for each part")
  const files: Attachment[] = []
  const texts = content.map((part: unknown, index) => {
    const file = fileIn(part, `${field}.${index}`)
    if (file === undefined) return partText(part, `${field}.${index}`)
    files.push(file)
    return ''
  })
  return { text: texts.join(''), files }
}

/** Their parts that hold a file: `image_url` and `file` of chat, `input_image` and `input_file` of responses. */
const fileIn = (part: unknown, field: string): Attachment | undefined => {
  const { type, image_url, file, ...own } = (typeof part === 'object' && part !== null ? part : {}) as Record<string, unknown>
  if (type === 'image_url' || type === 'input_image') {
    const url = typeof image_url === 'object' && image_url !== null && 'url' in image_url ? image_url.url : image_url
    return { content: dataIn(url, `${field}.image_url`) }
  }
  if (type !== 'file' && type !== 'input_file') return undefined
  const { file_data, filename } = (type === 'file' ? file : own) as { file_data?: unknown; filename?: unknown }
  return { content: dataIn(file_data, `${field}.file_data`), ...(typeof filename === 'string' && { fileName: filename }) }
}

const dataIn = (value: unknown, field: string): string => {
  if (typeof value === 'string' && value !== '' && !/^\w+:\/\//.test(value)) {
    // Looked at here, where its field is known.
    decodedContent(value, field)
    return value
  }
  throw new RuntimeError('bad_request', 'a file has to come with its content', {
    field,
    hint: 'addresses are not fetched, and files are not kept under an id here: send a data URL (data:image/png;base64,…)',
    data: { openai: 'unsupported_content' },
  })
}

const partText = (part: unknown, field: string): string => {
  const { type, text, refusal } = (typeof part === 'object' && part !== null ? part : {}) as Record<string, unknown>
  if (!textTypes.has(type))
    throw new RuntimeError('bad_request', `a part of the type '${typeof type === 'string' ? type.slice(0, 80) : typeof type}' cannot be read here`, {
      field: `${field}.type`,
      hint: 'send text, images and files: sounds are not supported',
      data: { openai: 'unsupported_content' },
    })
  const said = type === 'refusal' ? refusal : text
  if (typeof said !== 'string') throw refused('a part has no text', field, "write { type: 'text', text }")
  return said
}

export const refused = (message: string, field: string, hint: string): RuntimeError => new RuntimeError('bad_request', message, { field, hint })
