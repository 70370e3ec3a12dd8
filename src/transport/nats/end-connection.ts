/** The end of a connection, also of one to a server that says nothing any more. */
import type { NatsConnection } from '@nats-io/transport-node'

/** ms that a server may take to take what was sent; in real time, whatever the clock of the environment does. */
const farewellMs = 2_000

/** What was sent gets out; a server that says nothing any more is not waited for. */
export const endConnection = async (nc: NatsConnection): Promise<void> => {
  if (nc.isClosed()) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, farewellMs)
  })
  await Promise.race([nc.drain().catch(() => undefined), late])
  clearTimeout(timer)
  await nc.close()
}
