/** What a file is, read from its content: the few kinds that models take, and text. */

const startsWith = (bytes: Uint8Array, magic: readonly number[], at = 0): boolean => magic.every((byte, index) => bytes[at + index] === byte)
const ascii = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0))

/** The beginning of a frame of MP3: eleven bits, layer III, and neither a bit rate nor a sampling rate that does not exist. */
const isMpegFrame = ([first = 0, second = 0, third = 0]: Uint8Array): boolean =>
  first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08 && third >> 4 !== 15 && third >> 4 !== 0 && (third & 0x0c) !== 0x0c

const kinds: { mimeType: string; is: (bytes: Uint8Array) => boolean }[] = [
  { mimeType: 'image/png', is: (bytes) => startsWith(bytes, [0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a]) },
  { mimeType: 'image/jpeg', is: (bytes) => startsWith(bytes, [0xff, 0xd8, 0xff]) },
  { mimeType: 'image/gif', is: (bytes) => startsWith(bytes, ascii('GIF87a')) || startsWith(bytes, ascii('GIF89a')) },
  { mimeType: 'image/webp', is: (bytes) => startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WEBP'), 8) },
  { mimeType: 'application/pdf', is: (bytes) => startsWith(bytes, ascii('%PDF-')) },
  { mimeType: 'audio/wav', is: (bytes) => startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WAVE'), 8) },
  { mimeType: 'audio/mpeg', is: (bytes) => startsWith(bytes, ascii('ID3')) || isMpegFrame(bytes) },
  { mimeType: 'audio/ogg', is: (bytes) => startsWith(bytes, ascii('OggS')) },
  { mimeType: 'audio/flac', is: (bytes) => startsWith(bytes, ascii('fLaC')) },
  { mimeType: 'audio/mp4', is: (bytes) => startsWith(bytes, ascii('ftypM4A'), 4) },
  { mimeType: 'video/quicktime', is: (bytes) => startsWith(bytes, ascii('ftypqt'), 4) },
  { mimeType: 'video/mp4', is: (bytes) => startsWith(bytes, ascii('ftyp'), 4) },
  { mimeType: 'video/webm', is: (bytes) => startsWith(bytes, [0x1a, 0x45, 0xdf, 0xa3]) },
]

/** These hold one or the other, and only who sends it knows at once which. */
const recorded: Readonly<Record<string, string>> = { 'video/webm': 'audio/webm', 'video/mp4': 'audio/mp4', 'audio/ogg': 'video/ogg' }

/** Kinds of text that may keep their names. */
const textual = /^(?:text\/[\w.+-]+|application\/(?:json|xml|yaml|toml|javascript|typescript|sql|x-[\w.+-]+|[\w.-]+\+(?:json|xml)))$/

/** Tab, line ends and form feed stand in texts, and in logs the character that begins a colour. */
const noText = /(?![\t\n\r\f])\p{Cc}/u
const colourBegin = '\u001b'

/** @returns undefined for what is not UTF-8 text */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return noText.test(text.replaceAll(colourBegin, '')) ? undefined : text
  } catch {
    return undefined
  }
}

/** @param claim what its sender takes it for @returns undefined for what is neither of the known kinds nor text */
export const sniff = (bytes: Uint8Array, claim = ''): string | undefined => {
  const known = kinds.find(({ is }) => is(bytes))
  if (known) {
    const other = recorded[known.mimeType]
    return other !== undefined && other === plainType(claim) ? other : known.mimeType
  }
  if (textOf(bytes) === undefined) return undefined
  const plain = plainType(claim)
  return textual.test(plain) ? plain : 'text/plain'
}

/** Without parameters. */
export const plainType = (mimeType: string): string => (mimeType.split(';')[0] ?? '').trim().toLowerCase()
