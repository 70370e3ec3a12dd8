/** The names of blobs. */
import { createHash } from 'node:crypto'
import { RuntimeError } from '../contracts/errors.ts'

/** A hash becomes part of a path, so any other text is refused. @throws RuntimeError bad_request */
export const checkHash = (hash: string): string => {
  if (typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash)) return hash
  throw new RuntimeError('bad_request', `'${String(hash).slice(0, 80)}' is not the name of a blob`, {
    field: 'hash',
    hint: 'give the SHA-256 of the content in lower-case hex',
  })
}

export const blobNotFound = (hash: string): RuntimeError => new RuntimeError('not_found', `there is no blob ${hash}`)

/** SHA-256 in lower-case hex. */
export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
