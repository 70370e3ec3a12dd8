/** `statecast export` and `statecast import`: a conversation or actor travels as a file (src/client/trace-file.ts), in the middle of a turn too. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Imported } from '../api/index.ts'
import { type Client, parseTraceFile } from '../client/index.ts'
import { isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import { type FileRef, fileLine } from '../contracts/file.ts'
import { type Address, formatAddress } from '../contracts/subjects.ts'
import type { FramePage } from '../runtime/index.ts'
import { withAddress } from './address.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, note, print, printable, printed, printJson } from './output.ts'

const write = (line: object): Promise<void> => printed(JSON.stringify(line))

export const exportJournal = async (options: Globals, key: string): Promise<number> => {
  const client = await connect(options, { look: true })
  try {
    return await withAddress(key, async (address) => {
      const hash = createHash('sha256')
      let head: FramePage['head'] = { seq: 0, at: 0, wakeAt: null }
      for (let from: number | null = 1; from !== null; ) {
        const page: FramePage = await client.command<FramePage>('trace.frames', { ...address, from, limit: 1000 })
        if (page.head.origin) throw forkedError(address, page.head.origin)
        if (from === 1) await write({ statecast: 'journal', version: 1, address: formatAddress(address) })
        for (const frame of page.frames) {
          hash.update(frame.bytes)
          await write(frame)
        }
        from = page.next
        head = page.head
      }
      const { seq, wakeAt } = head
      if (address.kind === 'session') await exportFiles(client, address.id)
      await write({ commits: seq, wakeAt, sha256: hash.digest('hex') })
      note(`exported ${seq} commits of ${printable(formatAddress(address))}`)
      if (wakeAt === 0 && client.url !== undefined)
        note('it is in the middle of its work and also continues here: stop the node before you import it elsewhere')
      return exitCodes.fine
    })
  } finally {
    await client.close()
  }
}

const forkedError = (address: Address, { address: from, at }: NonNullable<FramePage['head']['origin']>): RuntimeError =>
  new RuntimeError('unsupported', `${formatAddress(address)} is a fork: what it shares with ${formatAddress(from)} was written by that`, {
    hint: `export that one, and fork it where it is imported: statecast fork ${keyOf(from)} --at ${at} --as ${keyOf(address)}`,
  })
const keyOf = (address: Address): string => (address.kind === 'session' ? address.id : formatAddress(address))

/** With what is in them: elsewhere nobody has that. */
const exportFiles = async (client: Client, sessionKey: string): Promise<void> => {
  const { files } = await client.command<{ files: FileRef[] }>('files.list', { sessionKey })
  for (const file of files) {
    const found = await client.command<{ content: string }>('files.get', { sessionKey, id: file.id }).catch((error: unknown) => {
      if (!isRuntimeError(error)) throw error
      note(`the file ${printable(fileLine(file))} is not in the export: ${error.message}`)
      return undefined
    })
    if (found) await write({ file, content: found.content })
  }
}

/** Small enough for one message of a NATS server with its default settings. */
const requestBytesMax = 256 * 1024

export const importJournal = async (options: Globals, file: string): Promise<number> => {
  const { address, frames, files, wakeAt, redacted } = parseTraceFile(read(file), file)
  if (redacted)
    throw new RuntimeError('bad_request', `${file} is redacted: nobody could go on with what was replaced in it`, {
      field: 'file',
      hint: 'fold it with `statecast replay --traces` or `statecast replay --traces`; to resume it elsewhere, export it without --redact',
    })
  const client = await connect(options)
  try {
    // Before the commits that name them.
    for (const { file: kept, content } of files)
      await client.command('files.put', { sessionKey: address.id, content, mimeType: kept.mimeType, fileName: kept.fileName })
    let imported: Imported = { seq: 0, known: 0 }
    let known = 0
    for (let at = 0; at < frames.length; ) {
      const some = page(frames, at)
      at += some.length
      imported = await client.command<Imported>('trace.import', { ...address, frames: some, wakeAt: at < frames.length ? undefined : wakeAt })
      known += imported.known
    }
    if (options.json) printJson({ address: formatAddress(address), seq: imported.seq, known })
    else print(`${printable(formatAddress(address))} ${told(imported.seq, known, { commits: frames.length, wakeAt })}`)
    return exitCodes.fine
  } finally {
    await client.close()
  }
}

/** @param seq the last commit that is there now @param known commits of the file that were there before */
const told = (seq: number, known: number, { commits, wakeAt }: { commits: number; wakeAt: number | null }): string => {
  if (known === commits)
    return `is there already, ${seq === commits ? `with all ${commits} commits of the file` : `with ${seq} commits, all ${commits} of the file among them`}: nothing was changed`
  return `has ${seq} commits${known > 0 ? `, ${known} of them from before` : ''}${wakeAt === 0 ? ', and resumes its work' : ''}`
}

const page = <Frame extends { bytes: string }>(frames: readonly Frame[], at: number): Frame[] => {
  let size = 0
  const some: Frame[] = []
  for (const frame of frames.slice(at)) {
    size += frame.bytes.length
    if (some.length > 0 && size > requestBytesMax) break
    some.push(frame)
  }
  return some
}

const read = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be read`, {
      cause,
      field: 'file',
      hint: 'give a file that `statecast export` wrote, or - for stdin',
    })
  }
}
