/** Files that people send with their messages: what a journal says of one, and what a sender gives. The content stands in a store of its own. */
import { z } from 'zod'
import { filesMax } from './file-limits.ts'

export const fileNameMax = 200
/** Characters of a content in base64, with the prefix of a data URL and line ends. */
const contentCharsMax = 8_000_000

const FileId = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be the id of a file, 64 hex digits')
  .describe('SHA-256 of the content, in hex')

/** A file as messages and journals name it; they never hold what is in it. */
export const FileRef = z.strictObject({
  id: FileId,
  mimeType: z.string().min(1).max(100).describe('as the content says it'),
  bytes: z.number().int().min(0),
  fileName: z.string().min(1).max(fileNameMax),
})
export type FileRef = z.infer<typeof FileRef>

const Content = z.string().max(contentCharsMax).describe('base64, or a data URL of it; 5,000,000 bytes at most')
const FileName = z.string().max(1000).describe('what it is called; paths, control and direction characters are left out')
const MimeType = z.string().max(200).describe('what its sender takes it for: what the content says counts more')

export const FileContent = z.strictObject({ content: Content, mimeType: MimeType.optional(), fileName: FileName.optional() })
export type FileContent = z.infer<typeof FileContent>

/** What is sent with a message: a content, or the id of a file that was uploaded before. */
export const Attachment = z
  .strictObject({
    type: z.string().max(40).optional().describe('such as image; what the content says counts'),
    mimeType: MimeType.optional(),
    fileName: FileName.optional(),
    content: Content.optional(),
    id: FileId.optional().describe('of a file that files.put, or POST /files, has taken before'),
  })
  .refine(({ content, id }) => (content === undefined) !== (id === undefined), 'must have either a content or an id')
export type Attachment = z.infer<typeof Attachment>

export const Attachments = z.array(Attachment).max(filesMax)
export const FileRefs = z.array(FileRef).max(filesMax)

export const isImage = ({ mimeType }: Pick<FileRef, 'mimeType'>): boolean => mimeType.startsWith('image/')
/** Whether it is something to see or to hear, rather than to read. */
export const isMedia = ({ mimeType }: Pick<FileRef, 'mimeType'>): boolean => /^(?:image|audio|video)\//.test(mimeType)
/** How a file is spoken of in a text. The name is its sender's: no quotation mark or line end of it ends the phrase. */
export const fileLine = ({ fileName, mimeType, bytes }: FileRef): string => `${JSON.stringify(fileName)} (${mimeType}, ${bytes} bytes)`

/** Something about a file that its sender should know: it was left out, or is taken for something else. */
export type FileWarning = { fileName: string; message: string }
