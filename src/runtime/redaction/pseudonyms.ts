/** Stand-ins for texts, numbers and bytes. The same always gets the same, and no two share one; nobody can find out from it what it stands for by trying. */
import { createHmac } from 'node:crypto'

/** Shorter stand-ins would meet each other, and words that really stand there. */
const lettersMin = 8
const alphabet = 'abcdefghijklmnopqrstuvwxyz'

export class Pseudonyms {
  readonly #key: Uint8Array
  readonly #textMax: number
  readonly #known = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** @param key secret, and forgotten afterwards @param textMax characters that a stand-in has at most; up to that, long texts keep their length */
  constructor(key: Uint8Array, textMax: number) {
    this.#key = key
    this.#textMax = textMax
  }

  /** A whole text. One of digits stays one of digits, and one of hexadecimal digits stays one. */
  text(text: string): string {
    return this.#unique(text, (attempt) => {
      if (/^\d+$/.test(text)) return this.#drawn(text, attempt, Math.max(text.length, lettersMin), '123456789')
      if (/^[0-9a-f]{16,}$/.test(text)) return this.#drawn(text, attempt, text.length, '0123456789abcdef')
      return this.#drawn(text, attempt, Math.min(this.#textMax, Math.max(text.length, lettersMin)), alphabet)
    })
  }

  /** Another number with as many digits before the point, as whole and of the same sign; below ten, the same. */
  number(value: number): number {
    const digits = String(Math.trunc(Math.abs(value))).length
    if (!Number.isFinite(value) || digits < 2 || digits > 15) return value
    const drawn = Number(this.#drawn(`number ${value}`, 0, digits, '123456789'))
    return Math.sign(value) * (Number.isInteger(value) ? drawn : drawn + 0.5)
  }

  bytes(value: Uint8Array): Uint8Array {
    const hash = Buffer.from(value).toString('base64')
    return new TextEncoder().encode(this.#drawn(hash, 0, Math.min(value.byteLength, this.#textMax), alphabet))
  }

  #unique(original: string, make: (attempt: number) => string): string {
    const known = this.#known.get(original)
    if (known !== undefined) return known
    let made = make(0)
    for (let attempt = 1; this.#taken.has(made) || made === original; attempt++) made = make(attempt)
    this.#known.set(original, made)
    this.#taken.add(made)
    return made
  }

  #drawn(original: string, attempt: number, length: number, letters: string): string {
    let drawn = ''
    for (let block = 0; drawn.length < length; block++)
      for (const byte of createHmac('sha256', this.#key).update(`${attempt} ${block} ${original}`).digest()) drawn += letters[byte % letters.length]
    return drawn.slice(0, length)
  }
}
