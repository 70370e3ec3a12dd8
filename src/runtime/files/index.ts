/** Files that people send with their messages. */
export { nothingLeft, takeAttachments } from './attachments.ts'
export { decodedContent } from './content.rules.ts'
export { FileStore } from './file-store.ts'
export { namedFiles } from './named-files.ts'
export type { UploadLimits } from './pending.ts'
export { sniff } from './sniff.rules.ts'
