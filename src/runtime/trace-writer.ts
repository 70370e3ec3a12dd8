/** A journal as a file, one commit a line, as `parseTraceFile` reads it. */
import { createHash } from 'node:crypto'
import type { FileRef } from '../contracts/file.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'

type Write = (line: string) => void | Promise<void>

export class TraceWriter {
  readonly #write: (line: object) => Promise<void>
  readonly #hash = createHash('sha256')
  #commits = 0

  /** @param write takes one line, without its end */
  static async begin(write: Write, address: Address, { redacted }: { redacted?: true } = {}): Promise<TraceWriter> {
    const writer = new TraceWriter(write)
    await writer.#write({ statecast: 'journal', version: 1, address: formatAddress(address), ...(redacted && { redacted }) })
    return writer
  }

  private constructor(write: Write) {
    this.#write = async (line) => write(JSON.stringify(line))
  }

  /** @param bytes of the commit, those of a string in base64 */
  async frame(seq: number, bytes: Uint8Array | string): Promise<void> {
    const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64')
    this.#hash.update(text)
    this.#commits++
    await this.#write({ seq, bytes: text })
  }

  /** Behind all commits. @param content in base64 */
  file(file: FileRef, content: string): Promise<void> {
    return this.#write({ file, content })
  }

  /** Says that it is whole. @returns how many commits there were */
  async end(wakeAt: number | null): Promise<number> {
    await this.#write({ commits: this.#commits, wakeAt, sha256: this.#hash.digest('hex') })
    return this.#commits
  }
}
