/**
 * Bytes of a provider that become no part of an answer: comments and pings that keep a connection open. The packages of the AI SDK drop them, so the way from
 * our `fetch` to the call that waits goes by the signal of that call, which both have.
 */
const waiting = new WeakMap<AbortSignal, () => void>()

/** @param alive is called for whatever comes from the server while the call with this signal waits */
export const hearsOf = (signal: AbortSignal, alive: () => void): void => void waiting.set(signal, alive)

/** @returns to be called for each piece of a response */
export const signOf = (signal: AbortSignal | null | undefined): (() => void) => (signal ? waiting.get(signal) : undefined) ?? (() => undefined)
