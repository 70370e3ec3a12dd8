/** A server that speaks the contract of the gateway's WebSocket and says only what a test tells it to. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket as Peer, WebSocketServer } from 'ws'
import { errorBody, RuntimeError } from '../../../src/contracts/errors.ts'
import { ClientFrame, type EventFrame, gatewayProtocol, type Subscribed, socketMethods, type Welcome } from '../../../src/contracts/gateway.ts'

export const token = 'a-token-of-thirty-two-characters'
type Answer = (params: Record<string, unknown>) => unknown

export type SocketGateway = {
  url: string
  /** Every call that came in, in its order: the method and what it was given. */
  calls: { method: string; params: Record<string, unknown> }[]
  /** Connections at the moment. */
  readonly peers: Peer[]
  /** What is answered to a method; one that throws refuses, one that waits says nothing until then. */
  answers: Record<string, Answer>
  tell<Name extends EventFrame['event']>(event: Name, payload: Extract<EventFrame, { event: Name }>['payload']): void
  /** Ends every connection without a word. */
  cut(): void
  /** Requests to its `/readyz`, and whether it answers that it is ready. */
  probes: number
  isReady: boolean
  /** Takes no connection any more, on the same port until `start`. */
  stop(): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export const welcome = (changes: Partial<Welcome> = {}): Welcome => ({
  protocol: gatewayProtocol,
  server: { name: 'statecast', version: '0.0.0', connection: 'c1' },
  policy: { frameBytesMax: 1_000_000, bufferedBytesMax: 1_000_000, tickMs: 30_000 },
  scopes: ['admin'],
  caps: ['chat.patch'],
  ...changes,
})

const greeted: Answer = (params) => {
  const { auth } = socketMethods.connect.parse(params)
  if (auth.token !== token) throw new RuntimeError('unauthorised', 'the token is wrong')
  return welcome()
}
const subscribed: Answer = ({ sessionKey }): Subscribed => ({ sessionKey: sessionKey as string, run: null, tools: [] })

export const aSocketGateway = async (): Promise<SocketGateway> => {
  const calls: SocketGateway['calls'] = []
  const answers: SocketGateway['answers'] = {
    connect: greeted,
    health: () => ({ ok: true }),
    'chat.subscribe': subscribed,
    'chat.unsubscribe': () => ({}),
  }
  let server: WebSocketServer | undefined
  let web: ReturnType<typeof createServer> | undefined
  let port = 0

  const serve = (peer: Peer): void => {
    const send = (frame: object) => peer.send(JSON.stringify(frame))
    send({ type: 'event', event: 'connect.challenge', payload: { nonce: 'n1', timestamp: 1 } })
    const answer = async (data: string): Promise<void> => {
      const { id, method, params = {} } = ClientFrame.parse(JSON.parse(data))
      calls.push({ method, params })
      try {
        const known = answers[method]
        if (!known) throw new RuntimeError('not_found', `no method ${method}`)
        const payload = known(params)
        send({ type: 'res', id, ok: true, payload: payload instanceof Promise ? await payload : payload })
      } catch (error) {
        send({ type: 'res', id, ok: false, error: errorBody(error) })
        if (method === 'connect') peer.close(1008, 'denied')
      }
    }
    peer.on('message', (data) => void answer((data as Buffer).toString()))
  }
  const start = () =>
    new Promise<void>((resolve, reject) => {
      const http = createServer((request, response) => {
        if (request.url === '/readyz') gateway.probes++
        response.writeHead(request.url !== '/readyz' ? 404 : gateway.isReady ? 200 : 503, { connection: 'close' }).end()
      })
      const next = new WebSocketServer({ server: http, path: '/ws' })
      server = next
      web = http
      next.on('connection', serve)
      next.once('error', reject)
      http.listen(port, '127.0.0.1')
      next.once('listening', () => {
        port = (next.address() as AddressInfo).port
        resolve()
      })
    })
  const stop = async () => {
    gateway.cut()
    server?.close()
    await new Promise((resolve) => (web ? web.close(resolve) : resolve(undefined)))
  }
  const gateway: SocketGateway = {
    url: '',
    calls,
    probes: 0,
    isReady: true,
    get peers() {
      return [...(server?.clients ?? [])]
    },
    answers,
    tell(event, payload) {
      for (const peer of gateway.peers) peer.send(JSON.stringify({ type: 'event', event, payload }))
    },
    cut() {
      for (const peer of gateway.peers) peer.terminate()
    },
    stop,
    start,
    [Symbol.asyncDispose]: stop,
  }
  await start()
  gateway.url = `ws://127.0.0.1:${port}/ws`
  return gateway
}
