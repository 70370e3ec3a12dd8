/** What a request asks for: read, bounded, and checked before anything runs. */

import { z } from 'zod'
import { isRuntimeError, parseExact } from '../../index.ts'
import { Refusal } from './refusal.ts'

const Body = z.strictObject({
  input: z.unknown().optional().describe('what the executable takes'),
  runId: z.string().min(1).max(200).optional().describe('names the run: one that has been begun is attached to'),
})
/** @property attaches to a run that is there: nothing is begun */
export type Asked = { input: unknown; runId?: string; attaches: boolean; after?: string; cancelsOnClose: boolean }

/** Read and thrown away beyond its limit: who is still sending would not see the answer. */
const discardBytesMax = 16 * 1024 * 1024

/** @throws Refusal */
export const askedIn = async (
  request: Request,
  { bodyBytesMax, cancelOnClose }: { bodyBytesMax: number; cancelOnClose: boolean },
): Promise<Asked> => {
  const type = request.headers.get('content-type') ?? ''
  // A page of another site may send no JSON without asking first.
  if (!/^application\/json(?:$|[;\s])/i.test(type))
    throw new Refusal('unsupported_type', 'the body has to be JSON', { hint: "send 'Content-Type: application/json'" })
  const read = Body.safeParse(parsed(await textIn(request, bodyBytesMax)))
  if (!read.success)
    throw new Refusal('bad_request', `the body does not fit: ${z.prettifyError(read.error)}`, { hint: 'send { "input": …, "runId": "…" }' })
  const { input, runId } = read.data
  const attaches = runId !== undefined && !('input' in read.data)
  const after = request.headers.get('last-event-id')
  if (after !== null && runId === undefined)
    throw new Refusal('bad_request', 'Last-Event-ID needs the run that it is a place of', { hint: 'send the runId that the first frame has told' })
  const wanted = new URL(request.url).searchParams.get('cancel')
  if (wanted !== null && wanted !== 'on-close' && wanted !== 'never')
    throw new Refusal('bad_request', `cancel=${wanted.slice(0, 20)} is not known`, { hint: 'on-close or never' })
  return {
    input,
    attaches,
    cancelsOnClose: wanted === null ? cancelOnClose : wanted === 'on-close',
    ...(runId !== undefined && { runId }),
    ...(after !== null && after !== '' && { after }),
  }
}

const parsed = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return parseExact(text, 'body')
  } catch (error) {
    if (isRuntimeError(error)) throw new Refusal('bad_request', error.message, { hint: error.hint ?? '' })
    throw new Refusal('bad_request', `the body is no JSON: ${(error as Error).message}`, { hint: 'send one JSON object' })
  }
}

const textIn = async ({ body }: Request, bytesMax: number): Promise<string> => {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.length
    if (sizeBytes <= bytesMax) chunks.push(chunk)
    else if (sizeBytes > discardBytesMax) break
  }
  if (sizeBytes > bytesMax) throw new Refusal('too_large', `a request may have ${bytesMax} bytes`, { hint: 'send less, or raise bodyBytesMax' })
  const whole = new Uint8Array(sizeBytes)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(whole)
  } catch {
    throw new Refusal('bad_request', 'the body is no UTF-8', { hint: 'send JSON as UTF-8' })
  }
}
