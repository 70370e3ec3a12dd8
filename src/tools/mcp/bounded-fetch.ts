/** `fetch` for servers that may answer anything: an answer that is too long, or that breaks off, becomes an error of its request. */
import { withDigitsAsText } from '../../contracts/exact-json.ts'
import { lostCode, messageBytesMax, type RpcMessage, tooLong } from './wire.ts'

type Id = string | number | undefined

/** Bytes of a refusal that are read. */
const refusalBytesMax = 64 * 1024

/** @param request sends it: through a proxy, where there is one */
export const boundedFetch =
  (request: typeof fetch) =>
  async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await request(url, init)
    const { body, status, statusText } = response
    if (body === null || (status >= 300 && status < 400)) return response
    const headers = new Headers(response.headers)
    // It has been unpacked.
    for (const name of ['content-encoding', 'content-length']) headers.delete(name)
    const made = (content: ConstructorParameters<typeof Response>[0]): Response => new Response(content, { status, statusText, headers })
    if (!response.ok) return made((await readUpTo(body, refusalBytesMax)).bytes)
    const id = idIn(init?.body)
    if (headers.get('content-type')?.includes('text/event-stream')) return made(streamOf(guardedEvents(body, id)))
    const { bytes, whole } = await readUpTo(body, messageBytesMax)
    return made(whole || id === undefined ? withDigitsAsText(new TextDecoder().decode(bytes)) : JSON.stringify(tooLong(id)))
  }

const streamOf = (parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await parts.return(undefined)),
  })

const idIn = (body: unknown): Id => {
  if (typeof body !== 'string') return undefined
  const { id } = JSON.parse(body) as RpcMessage
  return id
}

const readUpTo = async (body: ReadableStream<Uint8Array>, bytesMax: number): Promise<{ bytes: Uint8Array<ArrayBuffer>; whole: boolean }> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > bytesMax) return { bytes: new Uint8Array(Buffer.concat(parts)), whole: false }
    parts.push(part)
  }
  return { bytes: new Uint8Array(Buffer.concat(parts)), whole: true }
}

const newline = 10
const carriageReturn = 13

/**
 * Lets events pass one by one, each when it is whole. One that is too long ends the stream with an error in the place of the answer, and so does an end
 * without an answer, unless the server has numbered its events: then the SDK asks it for the rest.
 */
async function* guardedEvents(body: ReadableStream<Uint8Array>, id: Id): AsyncGenerator<Uint8Array> {
  let answered = id === undefined
  let numbered = false
  try {
    for await (const whole of wholeEvents(body)) {
      if (whole === 'too long') {
        if (id !== undefined && !answered) yield event(tooLong(id))
        return
      }
      if (!answered) {
        const text = whole.toString()
        numbered ||= /^id:/m.test(text)
        answered = /"(?:result|error)"\s*:/.test(text) && text.includes(`"id":${JSON.stringify(id)}`)
      }
      yield exactEvent(whole)
    }
  } catch {
    // It has broken off, which is an end as well.
  }
  if (!answered && !numbered && id !== undefined)
    yield event({ jsonrpc: '2.0', id, error: { code: lostCode, message: 'the connection ended before the answer' } })
}

/** The SDK reads a message with `JSON.parse`: the digits that it would lose reach it as text. */
const exactEvent = (event: Buffer): Uint8Array => {
  const text = event.toString()
  const exact = withDigitsAsText(text)
  return exact === text ? new Uint8Array(event) : new TextEncoder().encode(exact)
}

const event = (message: RpcMessage): Uint8Array => new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`)

/** An event ends with an empty line. */
async function* wholeEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Buffer | 'too long'> {
  let parts: Uint8Array[] = []
  let bytes = 0
  let emptyLine = true
  for await (const chunk of body) {
    let from = 0
    for (const [index, byte] of chunk.entries()) {
      if (byte === carriageReturn) continue
      if (byte === newline && emptyLine) {
        yield Buffer.concat([...parts, chunk.subarray(from, index + 1)])
        parts = []
        bytes = 0
        from = index + 1
      }
      emptyLine = byte === newline
    }
    const rest = chunk.subarray(from)
    bytes += rest.length
    if (bytes > messageBytesMax) return void (yield 'too long')
    if (rest.length > 0) parts.push(rest)
  }
}
