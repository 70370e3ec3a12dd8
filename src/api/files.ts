/** Files of messages: what is sent with one, and the commands that keep a file, give it back, and list those of a session. */
import type { Access } from '../contracts/access.ts'
import type { CommandInput } from '../contracts/commands.ts'
import { RuntimeError } from '../contracts/errors.ts'
import type { FileRef, FileWarning } from '../contracts/file.ts'
import { decodedContent, nothingLeft, type RuntimeParts, takeAttachments } from '../runtime/index.ts'

type Kept = FileRef & { warnings?: FileWarning[] }
type Said = Pick<CommandInput<'chat.send'>, 'sessionKey' | 'attachments'> & { text: string }

/** @returns what the message names, and what its sender is told @throws RuntimeError bad_request, too_large, not_found */
export const filesWith = async (parts: RuntimeParts, { sessionKey, text, attachments = [] }: Said, access?: Access) => {
  if (attachments.length === 0) return { files: {}, warned: [] }
  const { files, warnings } = await takeAttachments(parts.files, sessionKey, attachments, access?.id)
  if (files.length === 0 && text === '') throw nothingLeft(warnings)
  return { files: files.length === 0 ? {} : { files }, warned: warnings }
}

export const fileCommands = {
  'files.put': async (
    { files }: RuntimeParts,
    { content, mimeType, fileName, sessionKey }: CommandInput<'files.put'>,
    access?: Access,
  ): Promise<Kept> => {
    const { bytes, mimeType: claimed } = decodedContent(content, 'content')
    const { file, warning } = await files.put({ bytes, mimeType: mimeType ?? claimed, fileName }, 'content', { session: sessionKey, by: access?.id })
    if (file === undefined)
      throw new RuntimeError('bad_request', `${JSON.stringify(warning?.fileName)} cannot be sent to a model`, {
        field: 'content',
        hint: 'send an image (PNG, JPEG, GIF, WebP), a PDF or a text in UTF-8',
      })
    return { ...file, ...(warning && { warnings: [warning] }) }
  },
  'files.get': async ({ files }: RuntimeParts, { sessionKey, id }: CommandInput<'files.get'>): Promise<FileRef & { content: string }> => {
    const { file, bytes } = await files.read(sessionKey, id)
    return { ...file, content: Buffer.from(bytes).toString('base64') }
  },
  'files.list': async ({ files }: RuntimeParts, { sessionKey }: CommandInput<'files.list'>): Promise<{ files: FileRef[] }> => ({
    files: await files.list(sessionKey),
  }),
}
