/** What is sent with a message, kept before the message names it. */
import { RuntimeError } from '../../contracts/errors.ts'
import type { Attachment, FileRef, FileWarning } from '../../contracts/file.ts'
import { decodedContent } from './content.rules.ts'
import type { FileStore } from './file-store.ts'

/** @param by the token of who sends them @throws RuntimeError bad_request, too_large, not_found naming the field; nothing has been said then */
export const takeAttachments = async (
  files: FileStore,
  session: string,
  attachments: readonly Attachment[],
  by?: string,
): Promise<{ files: FileRef[]; warnings: FileWarning[] }> => {
  // All of them are looked at before any is kept.
  const decoded = attachments.map(({ content }, index) =>
    content === undefined ? undefined : decodedContent(content, `attachments.${index}.content`),
  )
  const taken: FileRef[] = []
  const warnings: FileWarning[] = []
  for (const [index, { id, mimeType, fileName }] of attachments.entries()) {
    const given = decoded[index]
    if (given === undefined) {
      taken.push(await files.known(session, id as string, `attachments.${index}.id`, { fileName, by }))
      continue
    }
    const { file, warning } = await files.put(
      { bytes: given.bytes, mimeType: mimeType ?? given.mimeType, fileName },
      `attachments.${index}.content`,
      { by },
    )
    if (file) taken.push(file)
    if (warning) warnings.push(warning)
  }
  return { files: taken, warnings }
}

/** @throws RuntimeError bad_request */
export const nothingLeft = (warnings: readonly FileWarning[]): RuntimeError =>
  new RuntimeError(
    'bad_request',
    `nothing is left of the message: ${warnings.map(({ fileName, message }) => `${JSON.stringify(fileName)} was ${message}`).join('; ')}`,
    {
      field: 'attachments',
      hint: 'send images, PDFs or texts in UTF-8, or say something',
    },
  )
