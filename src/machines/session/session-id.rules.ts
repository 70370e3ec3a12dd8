/** A name for a conversation that nobody has to draw: the same journal gives the same name, whoever reads it. */

/** Mixes a text down to 32 bits. */
const mixed = (text: string, seed: number): number => {
  let hash = seed
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A UUID of version 8 (RFC 9562 §5.8) that stands for these facts. It is a name and no secret. */
export const sessionIdOf = (...facts: (string | number)[]): string => {
  const text = JSON.stringify(facts)
  const hex = [1, 2, 3, 4]
    .map((seed) =>
      mixed(text, seed * 0x9e3779b9)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
