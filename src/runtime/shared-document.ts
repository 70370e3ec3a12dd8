/** A document that all nodes share, kept by one actor: the newest version is at hand, and is written only by who has read it. */
import { type Directory, recover } from '../actors/index.ts'
import { definedOf } from '../contracts/defined.ts'
import type { Environment } from '../contracts/environment.ts'
import { errorBody, RuntimeError } from '../contracts/errors.ts'
import { formatAddress } from '../contracts/subjects.ts'
import type { Transport } from '../contracts/transport.ts'
import { type ConfigContext, configKind, registerConfig } from '../machines/index.ts'
import { hashOf } from '../tools/index.ts'
import type { EventHub } from './event-hub.ts'

export type DocumentParts = { directory: Directory; outputs: EventHub; transport: Transport; environment: Environment }

/** ms after which one that other nodes may have written is looked at again: what they say may get lost on its way here. */
const staleMs = 5_000

export const emptyHash = hashOf({})
const registration = registerConfig(emptyHash)

export class SharedDocument<Value extends Record<string, unknown>> {
  readonly #id: string
  readonly #parts: DocumentParts
  readonly #parse: (value: unknown) => Value
  #known: { value: Value; hash: string; seq: number }
  #lookedAt = 0
  #loading: Promise<void> | undefined
  #stop = (): void => undefined

  /** @param parse takes what is stored @throws RuntimeError for what does not fit */
  constructor(parts: DocumentParts, id: string, parse: (value: unknown) => Value) {
    this.#parts = parts
    this.#id = id
    this.#parse = parse
    this.#known = { value: parse({}), hash: emptyHash, seq: 0 }
  }

  /** The newest version that this node knows of. `hash` is the same for the same value. */
  get current(): { value: Value; hash: string } {
    const { transport, environment } = this.#parts
    if (transport.capabilities.sharedByNodes && environment.clock.now() - this.#lookedAt > staleMs) {
      this.#lookedAt = environment.clock.now()
      this.load().catch((error: unknown) => environment.log.warn({ error: errorBody(error) }, 'the configuration could not be read again'))
    }
    return this.#known
  }

  /** Reads it again, one read at a time. @throws RuntimeError where it cannot be read */
  async load(): Promise<void> {
    // One that has begun may have read what was there before.
    await this.#loading?.catch(() => undefined)
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined
    })
    await this.#loading
  }

  async #read(): Promise<void> {
    const { transport, environment } = this.#parts
    this.#lookedAt = environment.clock.now()
    const address = { kind: configKind, id: this.#id }
    const head = await transport.journal.head(address)
    // It was deleted: what was in it holds no longer.
    if (head === undefined && this.#known.seq > 0) this.#known = { value: this.#parse({}), hash: emptyHash, seq: 0 }
    if (head === undefined || head.seq === this.#known.seq) return
    // Out of its journal: a node that starts may find nobody yet who has the actor.
    const { replica } = await recover(transport.journal, address, registration)
    const context = replica?.actor.getSnapshot().context as ConfigContext | undefined
    if (context) this.#known = { value: this.#parse(context.value), hash: context.hash, seq: head.seq }
  }

  /** Hears of what others write, until it is stopped. */
  follow(): void {
    const { outputs, environment } = this.#parts
    this.#stop = outputs.listen(formatAddress({ kind: configKind, id: this.#id }), ({ event }) => {
      if (event.type !== 'written') return
      this.load().catch((error: unknown) => environment.log.error({ error: errorBody(error) }, 'a new configuration could not be read'))
    })
  }

  stop(): void {
    this.#stop()
  }

  /** @param baseHash of what it was made from @throws RuntimeError conflict where that has changed since */
  async write(value: Value, baseHash: string, by?: string): Promise<void> {
    const { directory, environment } = this.#parts
    const parsed = this.#parse(value)
    const event = { type: 'write', value: parsed, hash: hashOf(parsed), baseHash, at: environment.clock.now(), ...definedOf({ by }) }
    const { emitted } = await directory.send({ kind: configKind, id: this.#id }, event)
    await this.load()
    const refused = emitted.find(({ type }) => type === 'refused') as { message: string; hint: string } | undefined
    if (refused) throw new RuntimeError('conflict', `${refused.message}: reload and retry`, { field: 'baseHash', hint: refused.hint })
  }
}
