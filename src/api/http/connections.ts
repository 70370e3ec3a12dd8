/**
 * Bounds the connections of a server. Where there are too many, the oldest one on which nobody has shown the right token goes: a caller that has it gets in
 * while others only hold connections open.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientOf, type GatewayLimits } from './limits.ts'
import { Counts } from './throttle.ts'

export class Connections {
  /** Those without the right token, the oldest first, with their addresses. */
  readonly #strangers = new Map<Socket, string>()
  readonly #strangersOf = new Counts()
  #count = 0

  constructor(server: Server, limits: GatewayLimits) {
    const { connectionsMax, strangersPerAddressMax } = limits
    server.on('connection', (socket: Socket) => {
      const client = clientOf(socket.remoteAddress)
      if (this.#strangersOf.of(client) >= strangersPerAddressMax) this.#dropStranger(client)
      if (this.#count >= connectionsMax && !this.#dropStranger()) {
        socket.destroy()
        return
      }
      this.#count++
      this.#strangers.set(socket, client)
      this.#strangersOf.add(client, 1)
      socket.once('close', () => {
        this.#count--
        this.trust(socket)
      })
    })
  }

  get count(): number {
    return this.#count
  }

  /** Somebody has shown the right token on it. */
  trust(socket: Socket): void {
    const client = this.#strangers.get(socket)
    if (client === undefined) return
    this.#strangers.delete(socket)
    this.#strangersOf.add(client, -1)
  }

  #dropStranger(client?: string): boolean {
    for (const [socket, of] of this.#strangers) {
      if (client !== undefined && of !== client) continue
      this.trust(socket)
      socket.destroy()
      return true
    }
    return false
  }
}
