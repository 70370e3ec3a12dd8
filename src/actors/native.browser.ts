/**
 * native.ts in plain JavaScript, for browsers: their own SHA-256 answers later, and a transition cannot wait. Both functions are fixed for ever by their
 * standards, and a test compares them with Node's.
 */

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

export const crc32 = (bytes: Uint8Array): number => {
  let value = 0xffffffff
  for (const byte of bytes) value = (value >>> 8) ^ (crcTable[(value ^ byte) & 0xff] as number)
  return ~value >>> 0
}

const blockBytes = 64
/** FIPS 180-4, 4.2.2 and 5.3.3: the first bits behind the point of the cube roots of the first 64 primes, and of the square roots of the first 8. */
// biome-ignore format: a table
const cubeRoots = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
  0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
  0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
  0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
  0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
  0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
)
const squareRoots = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

export const sha256 = (text: string): Uint8Array => {
  const padded = paddedBlocks(new TextEncoder().encode(text))
  const state = Uint32Array.from(squareRoots)
  for (let at = 0; at < padded.byteLength; at += blockBytes) compress(state, new DataView(padded.buffer, at, blockBytes))
  const digest = new DataView(new ArrayBuffer(32))
  for (const [index, word] of state.entries()) digest.setUint32(4 * index, word)
  return new Uint8Array(digest.buffer)
}

/** The bytes, one bit, zeros, and the length in bits as the last eight bytes of a whole block. */
const paddedBlocks = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / blockBytes) * blockBytes)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  new DataView(padded.buffer).setBigUint64(padded.length - 8, 8n * BigInt(bytes.length))
  return padded
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

const compress = (state: Uint32Array, block: DataView): void => {
  const words = new Uint32Array(64)
  for (let n = 0; n < 16; n++) words[n] = block.getUint32(4 * n)
  const word = (n: number): number => words[n] as number
  for (let n = 16; n < 64; n++) {
    const low = turned(word(n - 15), 7) ^ turned(word(n - 15), 18) ^ (word(n - 15) >>> 3)
    const high = turned(word(n - 2), 17) ^ turned(word(n - 2), 19) ^ (word(n - 2) >>> 10)
    words[n] = word(n - 16) + low + word(n - 7) + high
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let n = 0; n < 64; n++) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + (cubeRoots[n] as number) + word(n)
    const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority
    ;[a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g]
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] as number) + value
}
