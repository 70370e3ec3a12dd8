/** A client of the gateway's WebSocket with nothing of ours in it: frames as anybody would write them. */
import WebSocket from 'ws'
import type { EventFrame, GatewayEventName, GatewayEvents } from '../../../src/contracts/gateway.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { token } from '../http/harness.ts'

export type Answer = { ok: boolean; payload?: any; error?: any }
type Options = { headers?: Record<string, string>; path?: string }

/** A socket that has said nothing yet. */
export const rawSocket = (url: string, { headers = {}, path = '/ws' }: Options = {}) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  afterThisTest(() => socket.terminate())
  const frames: any[] = []
  let wake = Promise.withResolvers<void>()
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  const refused = new Promise<number>((resolve) => {
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0))
  })
  socket.on('error', () => undefined)
  socket.on('message', (data) => {
    frames.push(JSON.parse((data as Buffer).toString()))
    wake.resolve()
    wake = Promise.withResolvers()
  })
  /** The first frame, from the beginning, that fits. */
  const until = async <Found>(fits: (frame: any) => Found | undefined | false): Promise<any> => {
    for (let at = 0; ; at++) {
      while (at >= frames.length) await wake.promise
      if (fits(frames[at])) return frames[at]
    }
  }
  return { socket, frames, until, closed, refused, send: (frame: unknown) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)) }
}

/** One that has shaken hands. */
export const aSocket = async (url: string, params: Record<string, unknown> = {}) => {
  const raw = rawSocket(url)
  let count = 0
  const request = async (method: string, given: unknown = {}): Promise<Answer> => {
    const id = `r${++count}`
    raw.send({ type: 'req', id, method, params: given })
    return raw.until((frame) => frame.type === 'res' && frame.id === id)
  }
  const event = <Name extends GatewayEventName>(name: Name, fits: (payload: GatewayEvents[Name]) => unknown = () => true) =>
    raw.until((frame) => frame.type === 'event' && frame.event === name && fits(frame.payload)) as Promise<Extract<EventFrame, { event: Name }>>
  const events = <Name extends GatewayEventName>(name: Name): GatewayEvents[Name][] =>
    raw.frames.filter((frame) => frame.type === 'event' && frame.event === name).map(({ payload }) => payload)
  await raw.until(({ event: name }) => name === 'connect.challenge')
  const welcome = await request('connect', { minProtocol: 1, maxProtocol: 1, client: { name: 'test' }, auth: { token }, ...params })
  return { ...raw, request, event, events, welcome }
}
