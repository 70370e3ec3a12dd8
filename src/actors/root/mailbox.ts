/** What waits for its commit: messages from outside, what effects said, timers that fired. Everything in it is a copy that nobody else holds. */
import type { Logger } from '../../contracts/environment.ts'
import { isRuntimeError, messageOf, RuntimeError } from '../../contracts/errors.ts'
import type { ActorPath, AnyEvent, Input, Receipt } from '../../contracts/journal.ts'
import { inputSizeMax, measuredCopy } from '../journal/journal-value.ts'
import { LeanMap } from '../replica/lean.ts'
import { effectFailure } from '../replica/sink.ts'

export type Waiting = {
  input: Input
  /** It may wait for another one's commit. */
  lazy: boolean
  /** What the root emitted when this was applied. */
  emitted: AnyEvent[]
  resolve: (receipt: Receipt) => void
  reject: (error: unknown) => void
  size: number
}

/** Inputs of one commit; more wait for the next one. */
const batchMax = 1000

/** @property size of its event, where that is a copy already */
export type Arriving = Omit<Waiting, 'size'> & { size?: number | undefined }

const nobody = { resolve: () => undefined, reject: () => undefined }
export const unanswered = (input: Input, lazy = false): Arriving => ({ input, lazy, emitted: [], ...nobody })

export class Mailbox {
  readonly #name: string
  readonly #max: number
  readonly #log: Logger
  #queue: Waiting[] = []
  /** Effects whose messages did not fit any more, and who are to fail for it. */
  readonly #flooding = new LeanMap<ActorPath, true>()

  constructor(name: string, max: number, log: Logger) {
    this.#name = name
    this.#max = max
    this.#log = log
  }

  get length(): number {
    return this.#queue.length
  }

  /** Whether something waits that asks for a commit of its own. */
  get urgent(): boolean {
    for (const { lazy } of this.#queue) if (!lazy) return true
    return false
  }

  /** Refuses a message from outside when too many wait. @throws RuntimeError overloaded */
  checkRoom(): void {
    if (this.#queue.length >= this.#max)
      throw new RuntimeError('overloaded', `${this.#name} has ${this.#queue.length} messages waiting`, {
        retryable: true,
        hint: 'send slower, or wait for receipts before sending more',
      })
  }

  add(waiting: Arriving): void {
    try {
      this.#queue.push(this.#copied(this.#held(waiting)))
    } catch (error) {
      waiting.reject(error)
    }
  }

  /** @returns whether there were any */
  addAll(inputs: readonly Input[]): boolean {
    for (const input of inputs) this.add(unanswered(input))
    return inputs.length > 0
  }

  #copied(waiting: Arriving): Waiting {
    const { input } = waiting
    try {
      const { copy, size, replacedAt: at } = copyOf(waiting)
      // A model or a tool cannot be told; who reads the text may want to know why it is not what was said.
      if (at !== undefined) this.#log.warn({ actor: this.#name, at, ...('from' in input && { from: input.from }) }, 'half a character was replaced')
      return { ...waiting, input: copy, size }
    } catch (error) {
      if (!('from' in input)) throw error
      // What an effect produced and nobody can store becomes the failure of that effect.
      const refusal = unstorable(input, error)
      this.#tell(input.from, refusal)
      const failure = measuredCopy(failing(input, refusal))
      return { ...waiting, input: failure.copy, size: failure.size, lazy: false }
    }
  }

  /** An effect that says more than anybody can write down fails, or the queue would take all memory. */
  #held(waiting: Arriving): Arriving {
    const { input } = waiting
    if (!('from' in input) || this.#queue.length < 2 * this.#max || input.event.type.startsWith('xstate.')) return waiting
    const error = new RuntimeError('overloaded', `${input.from} sent more than could be written down`, {
      hint: 'send less often, or emit what may be lost',
    })
    if (this.#flooding.has(input.from)) throw error
    this.#flooding.set(input.from, true)
    this.#tell(input.from, error)
    return { ...waiting, input: effectFailure(input.from, error), lazy: false }
  }

  /** An author may look for the mistake in what the effect called, where it is not: the machine takes its `onError`, and nothing else shows why. */
  #tell(path: ActorPath, error: RuntimeError): void {
    this.#log.error({ actor: this.#name, path, error: error.toJSON() }, 'what an effect said cannot be stored, so it fails')
  }

  /** The inputs of the next commit. */
  take(): Waiting[] {
    let size = 0
    let count = 0
    for (const waiting of this.#queue) {
      size += waiting.size
      if (count > 0 && (count >= batchMax || size > inputSizeMax)) break
      count++
    }
    const batch = this.#queue.splice(0, count)
    if (this.#queue.length < this.#max) this.#flooding.clear()
    return batch
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#queue.splice(0)) reject(error)
  }
}

/** An event from outside was copied when it was checked; what stands beside it was not. */
const copyOf = ({ input, size }: Arriving): ReturnType<typeof measuredCopy<Input>> => {
  if (size === undefined || 'timer' in input) return measuredCopy(input)
  const { event, ...names } = input
  const beside = measuredCopy(names)
  return { ...beside, copy: { ...beside.copy, event }, size: beside.size + size }
}

type FromEffect = Extract<Input, { from: string }>

/** @returns what is wrong with it, and where in it */
const unstorable = ({ from, event }: FromEffect, cause: unknown): RuntimeError => {
  const ends = event.type.startsWith('xstate.')
  const { message, field } = reasonOf(ends ? event.data : event) ?? { message: messageOf(cause) }
  return new RuntimeError('tool_output', `what ${from} ${ends ? 'came to' : `said as '${event.type}'`} cannot be stored: ${message}`, {
    field: field || undefined,
    hint: 'return plain data: JSON, Date, Uint8Array, Error; of anything else what the machine needs of it',
  })
}

/** The place as its author names it: within the value, and not within the input that it would be. */
const reasonOf = (value: unknown): RuntimeError | undefined => {
  try {
    measuredCopy(value)
    return undefined
  } catch (error) {
    return isRuntimeError(error) ? error : undefined
  }
}

const failing = (input: FromEffect, error: RuntimeError): Input => {
  const { type } = input.event
  if (type === 'xstate.promise.resolve' || type === 'xstate.promise.reject')
    return { ...input, event: { type: 'xstate.promise.reject', data: error } }
  return effectFailure(input.from, error)
}

/** One id twice in one batch: the second sender waits for the commit of the first. */
export const answerTogether = (first: Waiting, second: Waiting): void => {
  const { resolve, reject } = first
  first.resolve = (receipt) => {
    resolve(receipt)
    second.resolve({ ...receipt, duplicate: true, emitted: [] })
  }
  first.reject = (error) => {
    reject(error)
    second.reject(error)
  }
}
