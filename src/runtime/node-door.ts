/** What other nodes ask this one about the actors that it has. */
import { decode, encode } from '../actors/codec.ts'
import type { Host } from '../actors/host.ts'
import type { Logger } from '../contracts/environment.ts'
import { errorBody, isRuntimeError } from '../contracts/errors.ts'
import type { Receipt } from '../contracts/journal.ts'
import { parseAddress, type Subjects } from '../contracts/subjects.ts'
import type { Bus, BusMessage } from '../contracts/transport.ts'
import { answer, failedHeader, type Question } from './directory.ts'

const emittedBytesMax = 100_000

/** What a root emitted is heard as events too; of a long list the short ones are kept, such as a refusal. */
const briefReceipt = (receipt: Receipt): Receipt => {
  if (encode(receipt.emitted).length <= emittedBytesMax) return receipt
  return { ...receipt, emitted: receipt.emitted.filter((event) => encode(event).length < emittedBytesMax / 100).slice(0, 100) }
}

/** @param drain what happens when an operator asks this node to go @returns the stopper */
export const openNodeDoor = (
  { host, bus, names, log }: { host: Host; bus: Bus; names: Subjects; log: Logger },
  node: string,
  drain: () => void,
): (() => void) => {
  const say = (to: string, body: unknown, headers: Record<string, string>): void =>
    bus.publish(to, encode(body), { 'Content-Type': 'application/msgpack', ...headers })
  const reply = ({ reply: to, subject }: BusMessage, body: unknown, headers: Record<string, string> = {}): void => {
    if (to === undefined) return
    try {
      say(to, body, headers)
    } catch (error) {
      // Whoever asked asks again, of whoever is next; but one answer that does not fit would never fit.
      if (isRuntimeError(error) && error.code === 'too_large') say(to, errorBody(error), { [failedHeader]: '1' })
      else log.debug({ subject, error: errorBody(error) }, 'another node got no answer')
    }
  }
  const take = async (message: BusMessage): Promise<void> => {
    const name = message.subject.slice(message.subject.lastIndexOf('.') + 1)
    try {
      if (name === 'drain') {
        drain()
        reply(message, true)
        return
      }
      const { address, args } = decode(message.data) as { address: string; args: unknown[] }
      const said = await answer(host, name as Question, parseAddress(address), args)
      // What was accepted must not be refused because the receipt is long.
      reply(message, name === 'send' ? briefReceipt(said as Receipt) : said)
    } catch (error) {
      reply(message, errorBody(error), { [failedHeader]: '1' })
    }
  }
  return bus.subscribe(names.node(node, '*'), (message) => void take(message))
}
