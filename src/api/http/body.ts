/** The body of a request: bounded, UTF-8, JSON. */
import { isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { parseExact } from '../../contracts/exact-json.ts'
import { checkDepth } from '../../contracts/parse.ts'

const bodyBytesMax = 1024 * 1024
/** What may hold a file in base64: `useChat` sends all of its conversation with each message. */
export const largeBytesMax = 8 * 1024 * 1024
/** Read and thrown away beyond that: who is still sending would not see the answer. */
const discardBytesMax = 16 * 1024 * 1024

/**
 * @param bytesMax default 1 MiB @param exact whether a number is refused that would become another one: not where numbers only tune a model (`seed`)
 * @returns the JSON of the body, `{}` for an empty one @throws RuntimeError too_large, bad_request, cancelled when the client broke off
 */
export const bodyOf = async (request: Request, bytesMax = bodyBytesMax, { exact = true } = {}): Promise<unknown> =>
  parsed(await textOf(request, bytesMax), exact)

/** @param noun what is said to be too large @param hint what to do then @throws RuntimeError too_large, cancelled when the client broke off */
export const bytesOf = async (
  { body }: Request,
  bytesMax: number,
  { noun = 'a request', hint = 'send less at a time' } = {},
): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  try {
    for await (const chunk of body ?? []) {
      sizeBytes += chunk.length
      if (sizeBytes <= bytesMax) chunks.push(chunk)
      else if (sizeBytes > discardBytesMax) break
    }
  } catch (cause) {
    throw new RuntimeError('cancelled', 'the request ended before its body did', { cause, hint: 'send all of it' })
  }
  if (sizeBytes > bytesMax) {
    const size = sizeBytes > discardBytesMax ? `more than ${discardBytesMax}` : sizeBytes
    throw new RuntimeError('too_large', `${noun} may have ${bytesMax} bytes, this one has ${size}`, { hint })
  }
  return Buffer.concat(chunks)
}

const textOf = async (request: Request, bytesMax: number): Promise<string> => {
  const bytes = await bytesOf(request, bytesMax)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new RuntimeError('bad_request', 'the body is not UTF-8', { cause, hint: 'send JSON as UTF-8' })
  }
}

const parsed = (text: string, exact: boolean): unknown => {
  if (text.trim() === '') return {}
  let json: unknown
  try {
    json = exact ? parseExact(text, 'body') : JSON.parse(text)
  } catch (cause) {
    if (isRuntimeError(cause)) throw cause
    throw new RuntimeError('bad_request', `the body is not JSON: ${cause instanceof Error ? cause.message : ''}`, { hint: 'send one JSON object' })
  }
  checkDepth(json, 'body')
  return json
}
