/**
 * Reports the chunks of a response to the model call that waits for it, including the comments and pings that keep a connection open. The AI SDK drops
 * those, so `fetch` finds the call by its abort signal, which both have.
 */
const waiting = new WeakMap<AbortSignal, () => void>()

/** @param onBytes is called for each chunk that the server sends during the call with this signal */
export const watchBytes = (signal: AbortSignal, onBytes: () => void): void => void waiting.set(signal, onBytes)

/** @returns the callback for each chunk of the response to this request */
export const onBytesOf = (signal: AbortSignal | null | undefined): (() => void) => (signal ? waiting.get(signal) : undefined) ?? (() => undefined)
