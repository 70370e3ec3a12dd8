/** One WebSocket, from its first frame to its end. */
import { messageOf, RuntimeError } from '../../contracts/errors.ts'
import type { ClientFrame, ServerFrame } from '../../contracts/gateway.ts'

/** As much of the WebSocket of a browser, or of Node, as is used. */
type SocketLike = {
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { code: number; reason: string }) => void): void
  addEventListener(type: 'error', listener: (event: unknown) => void): void
}
export type SocketConstructor = new (url: string) => SocketLike

type LinkOptions = {
  url: string
  WebSocket: SocketConstructor
  hear(frame: ServerFrame): void
  /** Called once, whatever ended it, and not after `close`. */
  end(error: RuntimeError): void
}

const openState = 1
const normalClosure = 1000

/** @property error such as why it cannot be sent now */
export type Link = { send(frame: ClientFrame, bytesMax: number): void; close(): void }

export const openLink = ({ url, WebSocket, hear, end }: LinkOptions): Link => {
  let socket: SocketLike | undefined
  let over = false
  const close = (): void => {
    over = true
    socket?.close(normalClosure)
  }
  const fail = (error: RuntimeError): void => {
    if (over) return
    close()
    end(error)
  }
  try {
    socket = new WebSocket(url)
    socket.addEventListener('message', ({ data }) => {
      if (over) return
      const frame = frameIn(data)
      if (frame) hear(frame)
      else fail(new RuntimeError('internal', `${url} does not speak as a gateway does`, { retryable: true, hint: 'is it a Statecast node?' }))
    })
    socket.addEventListener('close', ({ code, reason }) => fail(lostLink(url, reason === '' ? `code ${code}` : reason)))
    // What went wrong is said to nobody but the console of the browser; a close follows.
    socket.addEventListener('error', () => fail(lostLink(url, 'no connection')))
  } catch (error) {
    // Whoever opens it does not have it yet.
    queueMicrotask(() => fail(lostLink(url, messageOf(error))))
  }
  return {
    send(frame, bytesMax) {
      const text = JSON.stringify(frame)
      // A UTF-16 unit is at most three bytes: only what may be too long is measured.
      if (text.length * 3 > bytesMax && new TextEncoder().encode(text).length > bytesMax)
        throw new RuntimeError('too_large', `${frame.method} has more than the ${bytesMax} bytes that the gateway takes`, {
          hint: 'send less at a time',
        })
      if (over || socket?.readyState !== openState) throw lostLink(url, 'it is closing')
      socket.send(text)
    },
    close,
  }
}

export const lostLink = (url: string, why: string): RuntimeError =>
  new RuntimeError('log_unavailable', `there is no connection to ${url} (${why.slice(0, 200)})`, {
    retryable: true,
    hint: 'it is tried again by itself; repeat what has an idempotencyKey when it is back',
  })

/** Frames of kinds that we do not know are of a newer server, and for others. */
const frameIn = (data: unknown): ServerFrame | undefined => {
  if (typeof data !== 'string') return undefined
  try {
    const frame = JSON.parse(data) as Partial<Record<string, unknown>> | null
    const isFrame = typeof frame?.type === 'string' && typeof (frame.type === 'res' ? frame.id : (frame.event ?? '')) === 'string'
    return isFrame ? (frame as ServerFrame) : undefined
  } catch {
    return undefined
  }
}
