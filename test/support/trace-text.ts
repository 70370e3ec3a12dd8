/** A journal as `statecast export` writes it. */
import { createHash } from 'node:crypto'
import type { Frame } from '../../src/contracts/transport.ts'

export const traceText = (address: string, frames: readonly Frame[]): string => {
  const hash = createHash('sha256')
  const lines = frames.map(({ seq, bytes }) => {
    const line = { seq, bytes: Buffer.from(bytes).toString('base64') }
    hash.update(line.bytes)
    return line
  })
  const all = [{ statecast: 'journal', version: 1, address }, ...lines, { commits: frames.length, wakeAt: null, sha256: hash.digest('hex') }]
  return all.map((line) => `${JSON.stringify(line)}\n`).join('')
}
