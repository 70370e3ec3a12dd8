/** The listeners to the wake times that appends set. */
import type { Journal } from '../contracts/transport.ts'

export type WakeListeners = Set<Parameters<Journal['watchWakes']>[0]>

export const watchWakes =
  (listeners: WakeListeners): Journal['watchWakes'] =>
  (listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
