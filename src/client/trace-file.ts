/** A journal as a file, as `statecast export` writes it: what it is, one commit a line, one file a line, and an end that says that it is whole. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { commitOf } from '../actors/index.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { FileRef } from '../contracts/file.ts'
import { isDamage } from '../contracts/lost-end.ts'
import { type Address, parseAddress } from '../contracts/subjects.ts'
import type { Frame, Journal } from '../contracts/transport.ts'

const Begin = z.strictObject({
  statecast: z.literal('journal'),
  version: z.literal(1),
  address: z.string(),
  redacted: z.literal(true).optional(),
})
const Line = z.strictObject({ seq: z.number().int().min(1), bytes: z.base64() })
/** Behind the commits: a file that they name. Its id is the hash of its content. */
const FileLine = z.strictObject({ file: FileRef, content: z.base64() })
const End = z.strictObject({ commits: z.number().int().min(1), wakeAt: z.number().nullable(), sha256: z.string() })

/** @property redacted its texts were replaced: it can be folded and looked at, and never goes on */
export type TraceFile = {
  address: Address
  redacted: boolean
  frames: { seq: number; bytes: string }[]
  files: z.infer<typeof FileLine>[]
  wakeAt: number | null
}

/** @param name of the file, for the error @throws RuntimeError bad_request which names the line that is wrong */
export const parseTraceFile = (text: string, name: string): TraceFile => {
  const broken = (problem: string, cause?: unknown): RuntimeError =>
    new RuntimeError('bad_request', `${name} is not a complete export: ${problem}`, {
      cause,
      field: 'file',
      hint: 'export it again: statecast export KEY > file',
    })
  const lines = text.split('\n').filter((line) => line !== '')
  const as = <Schema extends z.ZodType>(schema: Schema, line: string | undefined, what: string): z.output<Schema> => {
    try {
      return schema.parse(JSON.parse(line ?? ''))
    } catch (cause) {
      throw broken(what, cause)
    }
  }
  const { address, redacted = false } = as(Begin, lines[0], 'its first line does not say what it is')
  const { commits, wakeAt, sha256 } = as(End, lines.at(-1), 'its last line is missing')
  const between = lines.slice(1, -1)
  const begin = between.findIndex((line) => line.startsWith('{"file"'))
  const commitLines = begin === -1 ? between : between.slice(0, begin)
  const frames = commitLines.map((line, index) => as(Line, line, `line ${index + 2} is not a commit`))
  const files = between.slice(commitLines.length).map((line, index) => as(FileLine, line, `line ${commitLines.length + index + 2} is not a file`))
  const changed = files.find(({ file: { id }, content }) => createHash('sha256').update(Buffer.from(content, 'base64')).digest('hex') !== id)
  if (changed) throw broken(`the content of ${JSON.stringify(changed.file.fileName)} is not what it was`)
  const hash = createHash('sha256')
  for (const { bytes } of frames) hash.update(bytes)
  if (frames.length !== commits || hash.digest('hex') !== sha256)
    throw broken(`it has ${frames.length} commits, ${commits} were written, or some differ`)
  const of = parseAddress(address)
  for (const [index, { seq, bytes }] of frames.entries())
    try {
      commitOf({ seq, bytes: Buffer.from(bytes, 'base64') }, of)
    } catch (cause) {
      if (!isDamage(cause)) throw cause
      // No backup of a data folder would mend a file.
      throw broken(`line ${index + 2}: ${cause.message}`, cause)
    }
  return { address: of, redacted, frames, files, wakeAt }
}

/** What a fold reads of a journal, out of a file. */
export const journalOfFile = ({ frames }: Pick<TraceFile, 'frames'>): Journal => {
  const read: Journal['read'] = async (_, from, { limit = frames.length } = {}): Promise<Frame[]> =>
    frames.slice(from - 1, from - 1 + limit).map(({ seq, bytes }) => ({ seq, bytes: Buffer.from(bytes, 'base64') }))
  return { read } as Pick<Journal, 'read'> as Journal
}
