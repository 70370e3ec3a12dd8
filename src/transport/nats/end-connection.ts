/** Closes a connection, also one to a server that no longer answers. */
import type { NatsConnection } from '@nats-io/transport-node'

/** ms that a server may take to receive what was sent; in real time, whatever the clock of the environment does. */
const farewellMs = 2_000

/** Sends what is still to be sent, and does not wait for a server that no longer answers. */
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
