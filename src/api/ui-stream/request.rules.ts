/** What `useChat` posts: its conversation as it shows it, of which only the newest message says anything new. */

import { z } from 'zod'
import type { CommandInput } from '../../contracts/commands.ts'
import { definedOf } from '../../contracts/defined.ts'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Attachment } from '../../contracts/file.ts'
import { parseInput } from '../../contracts/parse.ts'
import { maxIdBytes } from '../../contracts/subjects.ts'
import { noteMax } from '../../contracts/text.ts'
import { parseApproval, type Question } from './approval-id.rules.ts'

const Part = z.looseObject({ type: z.string() })
const Message = z.looseObject({ id: z.string().min(1), role: z.string(), parts: z.array(Part) })
type Message = z.infer<typeof Message>

/** Applications add fields of their own to the body: those that `chat.send` knows are handed on. */
const Body = z.looseObject({
  id: z.string().min(1).max(maxIdBytes),
  // The older ones were looked at when they were new.
  messages: z.array(z.unknown()).min(1),
  trigger: z.string(),
  messageId: z.string().nullish(),
  agent: z.unknown().optional(),
  model: z.unknown().optional(),
  thinking: z.unknown().optional(),
  queueMode: z.unknown().optional(),
})

/** As a tool part of an assistant's message holds it once a person has decided. */
const Approval = z.looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() })

export type Decision = Question & { approvalId: string; decision: 'approve' | 'deny'; note?: string }

type UiRequest =
  | { kind: 'message'; message: CommandInput<'chat.send'> & { idempotencyKey: string } }
  /** @property asked what the client has been asked in this answer: it has all that was streamed up to the last of them */
  | { kind: 'decisions'; sessionKey: string; runId: string; decisions: Decision[]; asked: string[] }

const hint = 'see docs/reference/ui-stream.md'
const refuse = (message: string, field: string, how = hint) => new RuntimeError('bad_request', message, { field, hint: how })
const cannot = (message: string, field: string, how: string) => new RuntimeError('unsupported', message, { field, hint: how })

/** @throws RuntimeError bad_request, too_large; unsupported for what the runtime cannot do */
export const readRequest = (body: unknown): UiRequest => {
  const { id: sessionKey, messages, trigger, messageId, agent, model, thinking, queueMode } = parseInput(Body, body, hint)
  if (trigger === 'regenerate-message')
    throw cannot('an answer cannot be made again: what was said stays in the journal', 'trigger', 'say what you want otherwise in a new message')
  if (trigger !== 'submit-message') throw refuse(`the trigger '${trigger.slice(0, 40)}' is not known`, 'trigger')
  const place = `messages.${messages.length - 1}`
  const newest = messageAt(messages.at(-1), place)
  if (newest.role === 'assistant') return { kind: 'decisions', sessionKey, ...decisionsIn(newest, place) }
  if (newest.role !== 'user')
    throw refuse(
      `a message of the role '${newest.role.slice(0, 40)}' is not taken`,
      `${place}.role`,
      'instructions are those of the agent: send user messages',
    )
  if (messageId === newest.id)
    throw cannot('a message cannot be changed: the agent has read it', 'messageId', 'send what you want to say now as a new message')
  const more = definedOf({ agent, model, thinking, queueMode }) as Partial<CommandInput<'chat.send'>>
  return { kind: 'message', message: { ...more, sessionKey, ...saidIn(newest, place), idempotencyKey: newest.id } }
}

const messageAt = (message: unknown, place: string): Message => {
  const parsed = Message.safeParse(message)
  if (parsed.success) return parsed.data
  const path = parsed.error.issues[0]?.path.map(String) ?? []
  throw refuse('the newest message needs id, role and parts', [place, ...path].join('.'))
}

/** Its texts, and its files: `FileUIPart`s of the AI SDK hold their content as a data URL. */
const saidIn = ({ parts }: Message, place: string): Pick<CommandInput<'chat.send'>, 'message' | 'attachments'> => {
  const texts: string[] = []
  const attachments: Attachment[] = []
  for (const [index, part] of parts.entries()) {
    const field = `${place}.parts.${index}`
    if (part.type === 'file') attachments.push(attachmentOf(part, field))
    else if (part.type !== 'text') throw cannot(`parts of the type '${part.type.slice(0, 40)}' are not taken`, field, 'send texts and files')
    else if (typeof part.text !== 'string') throw refuse('a text part needs a text', `${field}.text`)
    else texts.push(part.text)
  }
  const message = texts.join('\n')
  if (message.trim() === '' && attachments.length === 0) throw refuse('the newest message has no text', `${place}.parts`, 'say something')
  return { message, ...definedOf({ attachments: attachments.length === 0 ? undefined : attachments }) }
}

const attachmentOf = ({ url, mediaType, filename }: z.infer<typeof Part>, field: string): Attachment => {
  if (typeof url !== 'string') throw refuse('a file part needs a url', `${field}.url`)
  if (!url.startsWith('data:'))
    throw cannot('addresses of files are not fetched', `${field}.url`, 'send the content as a data URL, as useChat does with a FileList')
  return { content: url, ...(typeof mediaType === 'string' && { mimeType: mediaType }), ...(typeof filename === 'string' && { fileName: filename }) }
}

const decisionsIn = ({ parts }: Message, place: string): { runId: string; decisions: Decision[]; asked: string[] } => {
  const asked: string[] = []
  const decisions: Decision[] = []
  for (const [index, { approval, state }] of parts.entries()) {
    if (approval === undefined || approval === null) continue
    const field = `${place}.parts.${index}.approval`
    const { data } = Approval.safeParse(approval)
    const question = data && parseApproval(data.id)
    if (!data || !question) throw refuse('this approval was not asked for here', field, 'send the approval of the message as it was streamed')
    asked.push(data.id)
    if (state !== 'approval-responded') continue
    if (data.approved === undefined) throw refuse('a decision needs `approved`', `${field}.approved`)
    if ((data.reason?.length ?? 0) > noteMax)
      throw new RuntimeError('too_large', `a reason may have ${noteMax} characters`, { field: `${field}.reason`, hint: 'say it in fewer words' })
    decisions.push({
      ...question,
      approvalId: data.id,
      decision: data.approved ? 'approve' : 'deny',
      ...definedOf({ note: data.reason || undefined }),
    })
  }
  const [first] = decisions
  if (!first)
    throw refuse(
      'the newest message is an answer without a decision',
      place,
      'end with a user message, or with an answer in which approvals were responded to',
    )
  if (decisions.some(({ runId }) => runId !== first.runId))
    throw refuse('these approvals are of several answers', place, 'decide about one at a time')
  return { runId: first.runId, decisions, asked: asked.filter((id) => parseApproval(id)?.runId === first.runId) }
}
