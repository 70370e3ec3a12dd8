/** `fetch` for servers that may answer anything: an answer that is too long, or that breaks off, becomes an error of its request. */
import { lostCode, messageBytesMax, type RpcMessage, tooLong } from './wire.ts'

type Id = string | number | undefined

/** Bytes of a refusal that are read. */
const refusalBytesMax = 64 * 1024

export const boundedFetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
  const response = await fetch(url, init)
  const { body, status, statusText } = response
  if (body === null || (status >= 300 && status < 400)) return response
  const headers = new Headers(response.headers)
  // It has been unpacked.
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const made = (content: ConstructorParameters<typeof Response>[0]): Response => new Response(content, { status, statusText, headers })
  if (!response.ok) return made((await readUpTo(body, refusalBytesMax)).bytes)
  const id = idIn(init?.body)
  if (headers.get('content-type')?.includes('text/event-stream')) return made(body.pipeThrough(guardedEvents(id)))
  const { bytes, whole } = await readUpTo(body, messageBytesMax)
  return made(whole || id === undefined ? bytes : JSON.stringify(tooLong(id)))
}

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
const guardedEvents = (id: Id): TransformStream<Uint8Array, Uint8Array> => {
  let parts: Uint8Array[] = []
  let bytes = 0
  let emptyLine = true
  let answered = id === undefined
  let numbered = false
  let over = false
  const event = (message: RpcMessage): Uint8Array => new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`)
  const look = (whole: Buffer): void => {
    if (answered) return
    const text = whole.toString()
    numbered ||= /^id:/m.test(text)
    answered = /"(?:result|error)"\s*:/.test(text) && text.includes(`"id":${JSON.stringify(id)}`)
  }
  return new TransformStream({
    transform(chunk, controller) {
      let from = 0
      for (const [index, byte] of chunk.entries()) {
        if (byte === carriageReturn) continue
        if (byte !== newline) {
          emptyLine = false
          continue
        }
        if (emptyLine) {
          parts.push(chunk.subarray(from, index + 1))
          const whole = Buffer.concat(parts)
          look(whole)
          controller.enqueue(new Uint8Array(whole))
          parts = []
          bytes = 0
          from = index + 1
        }
        emptyLine = true
      }
      const rest = chunk.subarray(from)
      bytes += rest.length
      if (bytes > messageBytesMax) {
        over = true
        if (id !== undefined && !answered) controller.enqueue(event(tooLong(id)))
        controller.terminate()
      } else if (rest.length > 0) parts.push(rest)
    },
    flush(controller) {
      if (over || answered || numbered || id === undefined) return
      controller.enqueue(event({ jsonrpc: '2.0', id, error: { code: lostCode, message: 'the connection ended before the answer' } }))
    },
  })
}
