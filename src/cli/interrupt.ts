/** Ctrl-C: the first one stops the turn, the second one leaves. */
import { exitCodes } from './output.ts'

/** @param first what the first one does; until it is done a second one ends the process */
export const onInterrupt = (first: () => Promise<void> | void): (() => void) => {
  let count = 0
  const listener = () => {
    if (++count > 1) process.exit(exitCodes.interrupted)
    void Promise.resolve(first()).catch(() => undefined)
  }
  process.on('SIGINT', listener)
  return () => void process.off('SIGINT', listener)
}
