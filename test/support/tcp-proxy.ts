/** A TCP proxy on loopback that does to a connection what networks do. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type TcpProxy = {
  readonly port: number
  /** `127.0.0.1:port`. */
  readonly address: string
  /** Clients connected now. */
  readonly connections: number
  /** Drops all connections and each new one at once. */
  cut(): void
  /** Connections are accepted and stay, but nothing passes either way, not even their end; heal() lets through what has gathered. */
  stall(): void
  /** Ends cut, stall and delay, and swallows nothing that has not been swallowed yet. */
  heal(): void
  /** What comes from now on arrives that much later, each way, in its order. */
  delay(delayMs: number): void
  /**
   * Swallows the next thing the server says that matches, and drops that connection with it: the request was done and its answer is lost.
   * `keep` holds the connection and swallows nothing else; that wants {@link TcpProxyOptions.split}, or else takes whatever came along.
   * @returns when it has happened
   */
  dropResponsesOnce(pattern?: RegExp | string, options?: { keep?: boolean }): Promise<void>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type TcpProxyOptions = {
  /** The server's port on loopback. */
  to: number
  /** The length of the first whole message in what the server sent so far, 0 while incomplete; without it, each read is taken for one. */
  split?: (data: Buffer) => number
}

/** Messages of the NATS protocol. @see https://docs.nats.io/reference/reference-protocols/nats-protocol */
export const splitNats = (data: Buffer): number => {
  const end = data.indexOf('\r\n')
  if (end === -1) return 0
  // MSG and HMSG say last how long what follows is.
  const payload = /^H?MSG .* (\d+)$/i.exec(data.toString('latin1', 0, end))
  const length = payload ? end + 2 + Number(payload[1]) + 2 : end + 2
  return data.length >= length ? length : 0
}

/** What the proxy does at the moment, for all its connections. */
type Weather = { cut: boolean; stalled: boolean; delayMs: number }
type Loss = { pattern: RegExp | string; keep: boolean; done: () => void }

/** Where a direction stops reading while it waits to pass things on. */
const heldBytesMax = 2 ** 20

export const startTcpProxy = async ({ to, split = (data) => data.length }: TcpProxyOptions): Promise<TcpProxy> => {
  const weather: Weather = { cut: false, stalled: false, delayMs: 0 }
  const losses: Loss[] = []
  const links = new Set<Link>()
  const drop = (link: Link): void => {
    links.delete(link)
    for (const socket of [link.client, link.upstream]) socket.resetAndDestroy()
  }
  // Never closed while cut: on loopback, a client that tries a free port again and again sooner or later connects to itself.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on('error', () => undefined)
    if (weather.cut) return void client.resetAndDestroy()
    const upstream = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const link: Link = { client, upstream, flows: [] }
    links.add(link)
    const lose = (message: Buffer): boolean => {
      const loss = losses.find(({ pattern }) => matches(message, pattern))
      if (loss === undefined) return false
      losses.splice(losses.indexOf(loss), 1)
      if (!loss.keep) drop(link)
      loss.done()
      return true
    }
    link.flows = [
      flow(client, upstream, weather, { split: (data) => data.length, lose: () => false }),
      flow(upstream, client, weather, { split, lose }),
    ]
    for (const socket of [client, upstream])
      socket.on('close', () => {
        if (client.closed && upstream.closed) links.delete(link)
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const change = (next: Partial<Weather>): void => {
    Object.assign(weather, next)
    if (weather.cut) [...links].forEach(drop)
    for (const { flows } of links) for (const move of flows) move()
  }
  const close = async (): Promise<void> => {
    ;[...links].forEach(drop)
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  return {
    port,
    address: `127.0.0.1:${port}`,
    get connections() {
      return links.size
    },
    cut: () => change({ cut: true }),
    stall: () => change({ stalled: true }),
    heal: () => {
      losses.length = 0
      change({ cut: false, stalled: false, delayMs: 0 })
    },
    delay: (delayMs) => change({ delayMs }),
    dropResponsesOnce: (pattern = '', { keep = false } = {}) => new Promise((done) => losses.push({ pattern, keep, done })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

type Link = { client: Socket; upstream: Socket; flows: (() => void)[] }

// As latin1, each byte a character: a pattern finds its text in any payload.
const matches = (message: Buffer, pattern: RegExp | string): boolean => {
  const text = message.toString('latin1')
  return typeof pattern === 'string' ? text.includes(pattern) : text.search(pattern) !== -1
}

/** Moves one way; the returned function looks again at what is held, after the weather has changed. */
const flow = (
  from: Socket,
  to: Socket,
  weather: Weather,
  { split, lose }: { split: (data: Buffer) => number; lose: (message: Buffer) => boolean },
): (() => void) => {
  const held: { act: () => void; sizeBytes: number; dueAt: number }[] = []
  let heldBytes = 0
  let partial: Buffer = Buffer.alloc(0)
  let timer: NodeJS.Timeout | undefined

  const move = (): void => {
    clearTimeout(timer)
    if (weather.stalled && !to.closed) return
    while (held.length > 0 && !to.writableNeedDrain) {
      // After heal() nothing waits any longer, whatever its delay was.
      const waitMs = weather.delayMs === 0 ? 0 : held[0]!.dueAt - performance.now()
      if (waitMs > 0) {
        timer = setTimeout(move, waitMs)
        return
      }
      const { act, sizeBytes } = held.shift()!
      heldBytes -= sizeBytes
      act()
    }
    if (heldBytes < heldBytesMax) from.resume()
  }
  const hold = (act: () => void, sizeBytes = 0): void => {
    held.push({ act, sizeBytes, dueAt: performance.now() + weather.delayMs })
    heldBytes += sizeBytes
    if (heldBytes >= heldBytesMax) from.pause()
    move()
  }
  const pass = (message: Buffer): void => {
    if (!lose(message) && !to.destroyed) to.write(message)
  }

  from.on('data', (chunk: Buffer) => {
    partial = partial.length === 0 ? chunk : Buffer.concat([partial, chunk])
    for (let length = split(partial); length > 0; length = split(partial)) {
      const message = partial.subarray(0, length)
      partial = partial.subarray(length)
      hold(() => pass(message), length)
      if (partial.length === 0) break
    }
  })
  // How it ended is passed on too, after what came before it.
  from.on('end', () => {
    const rest = partial
    if (rest.length > 0) hold(() => pass(rest), rest.length)
    hold(() => to.end())
  })
  from.on('error', () => hold(() => to.resetAndDestroy()))
  to.on('drain', move)
  // Nobody is left to get what is held; that the other side hears of it is the other flow's affair.
  to.on('close', () => {
    held.length = heldBytes = 0
    move()
  })
  return move
}
