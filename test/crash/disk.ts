/**
 * A disk that loses its cache. `disk.c` writes down what a program asks of its files; from that this works out what may be left of them when the power
 * goes at any moment: all that was synced, and of the rest whatever chance leaves, down to single sectors.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('./disk.c', import.meta.url))
export const sectorBytes = 512

/** Compiles the shim into a folder. @throws Error where there is no C compiler: without one nobody knows what is synced */
export const compileShim = (folder: string): string => {
  const shim = join(folder, 'disk.so')
  try {
    execFileSync('cc', ['-Wall', '-Wextra', '-Werror', '-O1', '-shared', '-fPIC', '-o', shim, source, '-ldl', '-lpthread'])
  } catch (cause) {
    throw new Error('a C compiler is needed to see what is synced: install gcc, as `cc`', { cause })
  }
  return shim
}

export type DiskEvent =
  | { what: 'written'; file: string; at: number; data: Buffer }
  | { what: 'cut'; file: string; at: number }
  | { what: 'synced'; file: string }
  | { what: 'removed'; file: string }
  | { what: 'said'; text: string }

const [written, cut, synced, removed] = [1, 2, 3, 4]
const headBytes = 24

/** What the shim wrote down, in order; a last line that a kill cut off is left out. */
export const readTrace = (path: string): DiskEvent[] => {
  const bytes = readFileSync(path)
  const events: DiskEvent[] = []
  for (let place = 0; place + headBytes <= bytes.length; ) {
    const [what, pathBytes] = [bytes.readUInt32LE(place), bytes.readUInt32LE(place + 4)]
    const [at, dataBytes] = [Number(bytes.readBigUInt64LE(place + 8)), Number(bytes.readBigUInt64LE(place + 16))]
    const [from, end] = [place + headBytes + pathBytes, place + headBytes + pathBytes + dataBytes]
    if (end > bytes.length) break
    const file = basename(bytes.toString('utf8', place + headBytes, from))
    const data = bytes.subarray(from, end)
    if (what === written) events.push({ what: 'written', file, at, data })
    else if (what === cut) events.push({ what: 'cut', file, at })
    else if (what === synced) events.push({ what: 'synced', file })
    else if (what === removed) events.push({ what: 'removed', file })
    else events.push({ what: 'said', text: data.toString() })
    place = end
  }
  return events
}

type Piece = { at: number; data?: Buffer }

class Content {
  #bytes: Buffer
  #length: number
  constructor(from?: Content) {
    this.#bytes = Buffer.from(from?.bytes ?? [])
    this.#length = this.#bytes.length
  }
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }
  /** Without data it is cut off there, or grows with zeros. */
  put({ at, data }: Piece): void {
    const end = data ? Math.max(this.#length, at + data.length) : at
    if (end > this.#bytes.length) this.#bytes = Buffer.concat([this.bytes], Math.max(end, 2 * this.#bytes.length))
    if (end < this.#length) this.#bytes.fill(0, end, this.#length)
    data?.copy(this.#bytes, at)
    this.#length = end
  }
}

type DiskFile = { durable: Content; pending: Piece[] }

export class Disk {
  readonly #files = new Map<string, DiskFile>()

  see(event: DiskEvent): void {
    if (event.what === 'said') return
    if (event.what === 'removed') return void this.#files.delete(event.file)
    const file = this.#files.get(event.file) ?? { durable: new Content(), pending: [] }
    this.#files.set(event.file, file)
    if (event.what === 'synced') for (const piece of file.pending.splice(0)) file.durable.put(piece)
    else file.pending.push(event)
  }

  /** Writes what is left into a folder. @param keep of each sector that was not synced whether it is there @returns the files that lack something */
  writeTo(folder: string, keep: () => boolean): Set<string> {
    const lacking = new Set<string>()
    for (const [name, { durable, pending }] of this.#files) {
      const content = new Content(durable)
      for (const piece of pending.flatMap(sectors))
        if (keep()) content.put(piece)
        else lacking.add(name)
      writeFileSync(join(folder, name), content.bytes)
    }
    return lacking
  }
}

const sectors = ({ at, data }: Piece): Piece[] => {
  if (!data) return [{ at }]
  const pieces: Piece[] = []
  for (let from = 0; from < data.length; ) {
    const end = Math.min(data.length, from + sectorBytes - ((at + from) % sectorBytes))
    pieces.push({ at: at + from, data: data.subarray(from, end) })
    from = end
  }
  return pieces
}
