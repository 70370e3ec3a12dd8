/** Lines of JSON from a program that may write anything: what is too long is thrown away while it comes, and costs no memory. */
import { withDigitsAsText } from '../../contracts/exact-json.ts'
import { endlessBytes, messageBytesMax, type RpcMessage, tooLong } from './wire.ts'

type Reader = {
  message(message: RpcMessage): void
  /** A line that is no message of JSON-RPC: programs print all sorts of things. */
  garbage(line: string): void
  /** A line that does not end. */
  endless(): void
}

/** Bytes at either end of a line that is too long, in which the id of its request is looked for. */
const endBytes = 256
const shownChars = 200
const newline = 10

export class LineReader {
  readonly #reader: Reader
  #parts: Buffer[] = []
  #bytes = 0
  /** Of a line that is too long. */
  #head = ''
  #tail: Buffer = Buffer.alloc(0)

  constructor(reader: Reader) {
    this.#reader = reader
  }

  read(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      this.#take(chunk.subarray(from, end))
      this.#end()
      from = end + 1
    }
    this.#take(chunk.subarray(from))
  }

  #take(part: Buffer): void {
    if (part.length === 0) return
    this.#bytes += part.length
    if (this.#bytes > messageBytesMax) {
      if (this.#parts.length > 0) {
        this.#head = Buffer.concat(this.#parts.slice(0, 2)).subarray(0, endBytes).toString()
        this.#tail = (this.#parts.at(-1) as Buffer).subarray(-endBytes)
        this.#parts = []
      }
      this.#tail = Buffer.concat([this.#tail, part.subarray(-endBytes)]).subarray(-endBytes)
      if (this.#bytes > endlessBytes) this.#reader.endless()
    } else this.#parts.push(part)
  }

  #end(): void {
    const [parts, bytes, head, tail] = [this.#parts, this.#bytes, this.#head, this.#tail.toString()]
    this.#parts = []
    this.#bytes = 0
    this.#head = ''
    this.#tail = Buffer.alloc(0)
    if (bytes > messageBytesMax) {
      // Some write the id before what they answer, some behind it.
      const id = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d+)/.exec(head)?.[1] ?? /"id"\s*:\s*(\d+)\s*\}\s*$/.exec(tail)?.[1]
      if (id === undefined) this.#reader.garbage(`${head.slice(0, shownChars)}… (${bytes} bytes)`)
      else this.#reader.message(tooLong(Number(id)))
      return
    }
    const line = Buffer.concat(parts).toString().trim()
    if (line === '') return
    const message = messageIn(line)
    if (message === undefined) this.#reader.garbage(line.slice(0, shownChars))
    else this.#reader.message(message)
  }
}

const messageIn = (line: string): RpcMessage | undefined => {
  try {
    const value: unknown = JSON.parse(withDigitsAsText(line))
    return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0' ? (value as RpcMessage) : undefined
  } catch {
    return undefined
  }
}
