/** What a test has opened, and what is to be closed after it. */
import { afterEach } from 'vitest'

/** To be called at the top of a file. @returns keeps something until the test is over; what was opened last is closed first */
export const closedAfterEach = (): (<T extends { close(): Promise<unknown> }>(one: T) => T) => {
  const opened: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })
  return (one) => {
    opened.push(one)
    return one
  }
}
