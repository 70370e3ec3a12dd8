/** How much one connection may take up. */
export const socketLimits = {
  /** Bytes of a frame that comes in. */
  frameBytesMax: 512 * 1024,
  /** Bytes that wait to be sent; beyond them deltas and ticks are left out, no request is read, and the client has to catch up. Default: as configured. */
  bufferedBytesMax: undefined as number | undefined,
  /** Beyond so many a connection is ended at once: several of the largest answers, which a client that reads may well have asked for together. */
  overrunBytes: 32 * 1024 * 1024,
  tickMs: 30_000,
  healthMs: 60_000,
  /** Requests that have not been answered. */
  requestsMax: 64,
  /** Sessions that it watches. */
  subscriptionsMax: 256,
  /** Frames that cannot be understood, after which nothing more is heard. */
  badFramesMax: 10,
}
export type SocketLimits = typeof socketLimits
