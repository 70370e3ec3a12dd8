/** What a sender gives as a file, made fit to be kept: the bytes of a base64 text, and a name that can do no harm. */
import { RuntimeError } from '../../contracts/errors.ts'
import { fileNameMax } from '../../contracts/file.ts'
import { fileBytesMax, smallerFile } from '../../contracts/file-limits.ts'

const dataUrl = /^data:([^,;]*)(?:;[^,;]*)*?(;base64)?,/i

/** @param field where it stood @throws RuntimeError bad_request for what is not base64, too_large */
export const decodedContent = (content: string, field: string): { bytes: Uint8Array; mimeType?: string } => {
  const [prefix = '', mimeType = '', isBase64] = content.startsWith('data:') ? (dataUrl.exec(content.slice(0, 1000)) ?? []) : []
  const encoded = content.slice(prefix.length).replace(/\s+/g, '')
  if ((content.startsWith('data:') && isBase64 === undefined) || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || !isWhole(encoded))
    throw new RuntimeError('bad_request', 'the content is not base64', {
      field,
      hint: /^https?:/i.test(content) ? 'addresses are not fetched here: send the content itself' : 'encode the bytes of the file as base64',
    })
  const bytes = new Uint8Array(Buffer.from(encoded, 'base64'))
  checkFileSize(bytes.length, field)
  return { bytes, ...(mimeType === '' ? {} : { mimeType }) }
}

/** Padding may be left out; a single character at the end is part of a byte. */
const isWhole = (encoded: string): boolean => (encoded.endsWith('=') ? encoded.length % 4 === 0 : encoded.length % 4 !== 1)

/** @throws RuntimeError too_large; bad_request for an empty file */
export const checkFileSize = (sizeBytes: number, field: string): void => {
  if (sizeBytes > fileBytesMax)
    throw new RuntimeError('too_large', `a file may have ${fileBytesMax} bytes, this one has ${sizeBytes}`, { field, hint: smallerFile })
  if (sizeBytes === 0) throw new RuntimeError('bad_request', 'the file is empty', { field, hint: 'send one with something in it' })
}

const extensions: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'application/pdf': 'pdf',
}

/** The last part of a path, without characters that no screen shows, or that turn the direction of writing. */
export const cleanFileName = (given: string | undefined, mimeType: string): string => {
  const base = (given ?? '').toWellFormed().normalize('NFC').split(/[/\\]/).at(-1) ?? ''
  const shown = base
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/\s/g, ' ')
    .slice(0, fileNameMax)
    // Half of a pair that the cut went through.
    .replace(/[\uD800-\uDBFF]$/, '')
  const clean = withoutEnds(shown)
  return clean === '' ? `file.${extensions[mimeType] ?? 'txt'}` : clean
}

/** Without dots and spaces at either end: what begins with a dot is hidden, what ends with one cannot be kept everywhere. */
const withoutEnds = (name: string): string => {
  const isEnd = (at: number): boolean => name[at] === '.' || name[at] === ' '
  let from = 0
  let to = name.length
  while (from < to && isEnd(from)) from++
  while (to > from && isEnd(to - 1)) to--
  return name.slice(from, to)
}
