/** When a page is worth a new try: it is looked at again, or the machine is back on its network. */

type Target = { addEventListener?(type: string, listener: () => void): void; removeEventListener?(type: string, listener: () => void): void }
/** As much of a window as is used; in Node there is none of it. */
type World = Target & { document?: Target & { visibilityState?: string } }

/** @returns takes the listener away */
export type Signals = (wake: () => void) => () => void

export const pageSignals =
  (world = globalThis as World): Signals =>
  (wake) => {
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
