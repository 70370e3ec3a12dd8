/** The keys of a terminal as a stream that readline can read: it has the raw mode of the terminal behind it. */

import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { Keys } from './keys.rules.ts'

type Raw = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?: (mode: boolean) => unknown }

export const keyInput = (input: Raw): Transform & { isTTY?: boolean | undefined; setRawMode?: (mode: boolean) => unknown } => {
  const keys = new Keys()
  const decoder = new StringDecoder('utf8')
  const stream = new Transform({
    transform: (chunk: Buffer | string, _, done) => done(null, keys.take(typeof chunk === 'string' ? chunk : decoder.write(chunk))),
  })
  const { setRawMode } = input
  input.pipe(stream)
  return Object.assign(stream, { isTTY: input.isTTY, ...(setRawMode && { setRawMode: (mode: boolean) => setRawMode.call(input, mode) }) })
}
