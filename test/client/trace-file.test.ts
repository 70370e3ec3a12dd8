/** What a file has to be to count as an export. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { encode } from '../../src/actors/index.ts'
import { parseTraceFile } from '../../src/client/index.ts'

const traceOf = (address: string, ...commits: Uint8Array[]): string => {
  const frames = commits.map((bytes, index) => ({ seq: index + 1, bytes: Buffer.from(bytes).toString('base64') }))
  const hash = createHash('sha256')
  for (const { bytes } of frames) hash.update(bytes)
  const end = { commits: frames.length, wakeAt: null, sha256: hash.digest('hex') }
  return [{ statecast: 'journal', version: 1, address }, ...frames, end].map((line) => `${JSON.stringify(line)}\n`).join('')
}

test.each([
  ['bytes that are none of ours', new Uint8Array([0xc1, 0xff]), 'line 2: commit 1 of session/a"b is unreadable'],
  ['a value that is no commit', encode({ v: 1 }), 'line 2: commit 1 of session/a"b has a wrong form'],
])('of %s the line is named, and nobody is sent to the backup of a data folder', (_, bytes, words) => {
  expect(() => parseTraceFile(traceOf('session/a=22b', bytes), 'main.trace')).toThrow(
    expect.objectContaining({
      code: 'bad_request',
      message: expect.stringContaining(`main.trace is not a complete export: ${words}`),
      hint: 'export it again: statecast export KEY > file',
    }),
  )
})
