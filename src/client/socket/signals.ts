/** When a page is worth a new try: it is looked at again, or the machine is back on its network. */

/** As much of a page as is used; in Node there is none. */
type Page = { addEventListener?(type: string, listener: () => void): void; removeEventListener?(type: string, listener: () => void): void }

/** @returns takes the listener away */
export type Signals = (wake: () => void) => () => void

export const pageSignals: Signals = (wake) => {
  const world = globalThis as Page & { document?: Page & { visibilityState?: string } }
  const { document } = world
  const look = (): void => {
    if (document?.visibilityState === 'visible') wake()
  }
  document?.addEventListener?.('visibilitychange', look)
  world.addEventListener?.('online', wake)
  return () => {
    document?.removeEventListener?.('visibilitychange', look)
    world.removeEventListener?.('online', wake)
  }
}
