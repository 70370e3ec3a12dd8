/**
 * Shows a tree of actors to receivers of the Stately inspector: WebSocket frames as `createWebSocketReceiver` of `@statelyai/inspect` reads them. What they send
 * is read and forgotten. One who reads slowly is told slowly: what it has not been told waits in the journal.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock, Logger } from '../../contracts/environment.ts'
import { errorBody, RuntimeError } from '../../contracts/errors.ts'
import type { InspectionMessage } from '../../contracts/inspection-protocol.ts'
import type { Runtime } from '../../runtime/index.ts'
import { type Capability, capabilityAt } from './capabilities.ts'

/** Receivers of a node, bytes of a frame that one sends, bytes that wait to be read, and ms until somebody reads them. */
const relayLimits = { receiversMax: 64, frameBytesMax: 64 * 1024, bufferedBytesMax: 1024 * 1024, patienceMs: 60_000 }
export type RelayLimits = typeof relayLimits

const closeCodes = { policy: 1008, failed: 1011, restart: 1012 } as const
/** A timer cannot wait for longer. */
const timeoutMax = 2 ** 31 - 1

/** What the inspector knows; the rest is for those who listen on the bus. */
const shown: ReadonlySet<InspectionMessage['type']> = new Set(['@xstate.actor', '@xstate.event', '@xstate.snapshot'])

type RelayParts = { runtime: () => Runtime; clock: Clock; log: Logger; limits?: Partial<RelayLimits> | undefined }

export class Relay {
  readonly #parts: RelayParts
  readonly #limits: RelayLimits
  readonly #server: WebSocketServer
  readonly #receivers = new Set<() => void>()

  constructor(parts: RelayParts) {
    this.#parts = parts
    this.#limits = { ...relayLimits, ...parts.limits }
    const { frameBytesMax } = this.#limits
    this.#server = new WebSocketServer({ noServer: true, maxPayload: frameBytesMax, perMessageDeflate: false, clientTracking: false })
  }

  /** @throws RuntimeError not_found, also for an address whose time is over; rate_limited */
  upgrade(path: string, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const capability = capabilityAt(this.#parts.runtime(), path)
    if (capability === undefined)
      throw new RuntimeError('not_found', 'there is nothing at this address, or its time is over', {
        hint: 'ask for a new one: statecast inspect KEY --stately',
      })
    if (this.#receivers.size >= this.#limits.receiversMax)
      throw new RuntimeError('rate_limited', `${this.#receivers.size} visualisers look at actors of this node`, {
        retryable: true,
        hint: 'close those that nobody looks at',
      })
    this.#server.handleUpgrade(request, socket, head, (client) => this.#serve(client, capability))
  }

  /** Ends all connections. */
  close(): void {
    for (const end of this.#receivers) end()
    this.#server.close()
  }

  #serve(client: WebSocket, capability: Capability): void {
    const { clock, log } = this.#parts
    const close = (code: number, reason: string): void => {
      client.close(code, reason)
      // One that stands still would never answer the close.
      const patience = clock.setTimeout(() => client.terminate(), 1_000)
      client.once('close', () => clock.clearTimeout(patience))
    }
    const end = () => close(closeCodes.restart, 'this node is shutting down')
    this.#receivers.add(end)
    const over = clock.setTimeout(
      () => close(closeCodes.policy, 'the time of this address is over'),
      Math.min(capability.expiresAt - clock.now(), timeoutMax),
    )
    const stop = capability.follow({
      tell: async (messages) => {
        for (const message of messages) {
          if (!shown.has(message.type)) continue
          if (capability.isOver()) return close(closeCodes.policy, 'the time of this address is over')
          await this.#send(client, JSON.stringify(message))
        }
      },
      failed: (error) => {
        log.warn({ error: errorBody(error) }, 'an actor cannot be shown to a visualiser')
        close(closeCodes.failed, errorBody(error).message.slice(0, 100))
      },
    })
    client.on('error', (error) => log.debug({ error: errorBody(error) }, 'the socket of a visualiser broke'))
    client.once('close', () => {
      stop()
      clock.clearTimeout(over)
      this.#receivers.delete(end)
    })
  }

  /** Resolves when there is room for more, or nobody is there any more. */
  async #send(client: WebSocket, text: string): Promise<void> {
    if (client.readyState !== client.OPEN) return
    const { clock } = this.#parts
    const written = Promise.withResolvers<void>()
    client.send(text, () => written.resolve())
    if (client.bufferedAmount <= this.#limits.bufferedBytesMax) return
    const patience = clock.setTimeout(() => client.terminate(), this.#limits.patienceMs)
    await written.promise
    clock.clearTimeout(patience)
  }
}
