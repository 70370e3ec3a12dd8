/** `statecast import`: a conversation or actor from a file (src/client/trace-file.ts) resumes here, in the middle of a turn too. */

import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Imported } from '../api/index.ts'
import { parseTraceFile } from '../client/index.ts'
import { withoutMark } from '../contracts/byte-order-mark.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { formatAddress } from '../contracts/subjects.ts'
import { connect } from './connect.ts'
import type { Globals } from './globals.ts'
import { exitCodes, print, printable, printJson } from './output.ts'
import { resolvePath, streams } from './surroundings.ts'

/** Small enough for one message of a NATS server with its default settings. */
const requestBytesMax = 256 * 1024

export const importJournal = async (options: Globals, file: string): Promise<number> => {
  const { address, frames, files, wakeAt, redacted } = parseTraceFile(await read(file), file)
  if (redacted)
    throw new RuntimeError('bad_request', `${file} is redacted: nobody could go on with what was replaced in it`, {
      field: 'file',
      hint: 'fold it with `statecast test --traces` or `statecast replay --traces`; to resume it elsewhere, export it without --redact',
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

const read = async (file: string): Promise<string> => {
  try {
    return file === '-' ? await text(streams().stdin) : withoutMark(await readFile(resolvePath(file), 'utf8'))
  } catch (cause) {
    throw new RuntimeError('bad_request', `${file} cannot be read`, {
      cause,
      field: 'file',
      hint: 'give a file that `statecast export` wrote, or - for stdin',
    })
  }
}
