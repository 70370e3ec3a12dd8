/** Ctrl-C: the first one stops the turn, the second one leaves. */
import { exitCodes } from './output.ts'
import { leave, listen } from './surroundings.ts'

/** @param first what the first one does; until it is done a second one leaves */
export const onInterrupt = (first: () => Promise<void> | void): (() => void) => {
  let count = 0
  const listener = () => {
    if (++count > 1) return leave(exitCodes.interrupted)
    void Promise.resolve(first()).catch(() => undefined)
  }
  return listen('SIGINT', listener)
}
