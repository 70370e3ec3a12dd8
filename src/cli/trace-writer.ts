/** A journal to stdout, as `parseTraceFile` reads it. */
import { createHash } from 'node:crypto'
import type { FileRef } from '../contracts/file.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import { printed } from './output.ts'

export class TraceWriter {
  readonly #hash = createHash('sha256')
  #commits = 0

  static async begin(address: Address, { redacted }: { redacted?: true } = {}): Promise<TraceWriter> {
    await write({ statecast: 'journal', version: 1, address: formatAddress(address), ...(redacted && { redacted }) })
    return new TraceWriter()
  }

  private constructor() {}

  /** @param frame its bytes in base64 */
  async frame({ seq, bytes }: { seq: number; bytes: string }): Promise<void> {
    this.#hash.update(bytes)
    this.#commits++
    await write({ seq, bytes })
  }

  /** Behind all commits. @param content in base64 */
  file(file: FileRef, content: string): Promise<void> {
    return write({ file, content })
  }

  /** Says that it is whole. @returns how many commits there were */
  async end(wakeAt: number | null): Promise<number> {
    await write({ commits: this.#commits, wakeAt, sha256: this.#hash.digest('hex') })
    return this.#commits
  }
}

const write = (line: object): Promise<void> => printed(JSON.stringify(line))
