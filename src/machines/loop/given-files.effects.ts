/** The files of a conversation as one call of a model is given them. Journals name them; what is in them is read now, from the store. */
import { isImage, isMedia } from '../../contracts/file.ts'
import type { Message } from '../../contracts/message.ts'
import type { Model, ModelFile, ModelMessage } from '../../contracts/model.ts'

type Content = (id: string) => Promise<Uint8Array | undefined>

/** Of one request, the newest ones: a provider refuses much more, and all of it is in memory at once. */
const filesMax = 20
const bytesMax = 20 * 1024 * 1024

/** @param content undefined for a file that is no longer there @param accepts nothing where the model has refused a request with files */
export const withFiles = (messages: Message[], accepts: Model['accepts'], content: Content): ModelMessage[] | Promise<ModelMessage[]> =>
  messages.some((message) => message.role === 'user' && message.files !== undefined) ? given(messages, accepts, content) : messages

const given = async (messages: readonly Message[], accepts: Model['accepts'], content: Content): Promise<ModelMessage[]> => {
  let count = 0
  let bytes = 0
  const told: ModelMessage[] = []
  for (const message of messages.toReversed()) {
    if (message.role !== 'user' || message.files === undefined) {
      told.push(message)
      continue
    }
    const files: ModelFile[] = []
    for (const file of message.files) {
      count++
      bytes += file.bytes
      if (!takes(file, accepts)) files.push({ ...file, missing: 'cannot be read by this model' })
      else if (count > filesMax || bytes > bytesMax) files.push({ ...file, missing: 'was sent earlier, and is left out here' })
      else {
        const data = await content(file.id)
        files.push(data === undefined ? { ...file, missing: 'is no longer there' } : { ...file, data })
      }
    }
    told.push({ ...message, files })
  }
  return told.reverse()
}

/** Whether something is given as it is, which not every model takes. */
export const hasMedia = (messages: readonly ModelMessage[]): boolean =>
  messages.some((message) => message.role === 'user' && message.files?.some((file) => file.data !== undefined && !isText(file)))

const isText = (file: { mimeType: string }): boolean => !isMedia(file) && file.mimeType !== 'application/pdf'
const takes = (file: { mimeType: string }, accepts: Model['accepts']): boolean => {
  if (isText(file)) return true
  if (isImage(file)) return accepts?.images !== false
  return (file.mimeType.startsWith('audio/') ? accepts?.audio : file.mimeType.startsWith('video/') ? accepts?.video : accepts?.pdf) === true
}
