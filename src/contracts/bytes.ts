/** Two hex digits for each byte. */
export const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, index) => byte === b[index])

/** In base64, and back; in a browser too. */
export const toBase64 = (bytes: Uint8Array): string => {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)))
  return btoa(parts.join(''))
}
/** A page reads whole journals with it: a loop takes a fraction of what `Uint8Array.from` does. */
export const fromBase64 = (text: string): Uint8Array => {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < characters.length; at++) bytes[at] = characters.charCodeAt(at)
  return bytes
}
