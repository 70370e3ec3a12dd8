/** What a model was asked and has answered, kept as plain JSON: in an object, or in a file that can be read and committed. */

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { withoutMark } from '../contracts/byte-order-mark.ts'
import { messageOf, RuntimeError } from '../contracts/errors.ts'
import type { ErrorBody, ModelDelta, ModelResponse } from '../index.ts'

/** One call: what came piece by piece, and how it ended. `request` is what its hash was made of, for people who read the file. */
export type Recording = { hash: string; request: unknown; chunks: readonly ModelDelta[]; response?: ModelResponse; error?: ErrorBody }

/** `recordings` of one hash are played in their order. */
export type Cassette = { version: 1; recordings: Recording[] }

const Stored = z.looseObject({
  version: z.literal(1),
  recordings: z.array(
    z
      .looseObject({
        hash: z.string(),
        chunks: z.array(z.object({ kind: z.enum(['text', 'reasoning']), text: z.string() })),
        response: z.looseObject({}).optional(),
        error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
      })
      .refine(({ response, error }) => (response === undefined) !== (error === undefined), { error: 'has a response or an error' }),
  ),
})

/** A cassette that is open: what is put into it is kept, also where the process dies later. */
type OpenCassette = { find(hash: string): readonly Recording[]; add(recording: Recording): Promise<void> }

/**
 * @param isNew what it held before is dropped; a file need not be there
 * @throws RuntimeError bad_request for what is no cassette, not_found
 */
export const openCassette = async (given: string | Cassette, { isNew, isNeeded }: { isNew: boolean; isNeeded: boolean }): Promise<OpenCassette> => {
  const cassette = typeof given === 'string' ? await read(given, isNeeded && !isNew) : checked(given, 'the cassette')
  if (isNew) cassette.recordings.length = 0
  let writing = Promise.resolve()
  return {
    find: (hash) => cassette.recordings.filter((one) => one.hash === hash),
    async add(recording) {
      cassette.recordings.push(recording)
      if (typeof given !== 'string') return
      writing = writing.catch(() => undefined).then(() => write(given, cassette))
      await writing
    },
  }
}

const read = async (file: string, isNeeded: boolean): Promise<Cassette> => {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ENOENT' && !isNeeded) return { version: 1, recordings: [] }
    throw new RuntimeError('not_found', `the cassette "${file}" cannot be read`, { cause, hint: "record it first: mode: 'record'" })
  }
  try {
    return checked(JSON.parse(withoutMark(text)), `the cassette "${file}"`)
  } catch (cause) {
    if (cause instanceof RuntimeError) throw cause
    throw new RuntimeError('bad_request', `the cassette "${file}" is no JSON: ${messageOf(cause)}`, { cause, hint: 'record it anew' })
  }
}

const checked = (given: unknown, name: string): Cassette => {
  const result = Stored.safeParse(given)
  if (result.success) return given as Cassette
  const [issue] = result.error.issues
  throw new RuntimeError('bad_request', `${name} is none: ${issue?.path.map(String).join('.')}: ${issue?.message}`, {
    field: 'cassette',
    hint: 'give { version: 1, recordings: [] }, or the name of a file',
  })
}

/** Whole or not at all. */
const write = async (file: string, cassette: Cassette): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.new`, `${JSON.stringify(cassette, null, 2)}\n`)
  await rename(`${file}.new`, file)
}
