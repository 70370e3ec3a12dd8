/** What other nodes ask this one about the actors that it has. */

import { z } from 'zod'
import type { Host, Question } from '../actors/index.ts'
import { answer, decode, encode } from '../actors/index.ts'
import type { AgentTable } from '../contracts/agent.ts'

import type { Logger } from '../contracts/environment.ts'
import { errorBody, isRuntimeError, RuntimeError } from '../contracts/errors.ts'
import type { Receipt } from '../contracts/journal.ts'
import { parseInput } from '../contracts/parse.ts'
import { parseAddress, type Subjects } from '../contracts/subjects.ts'
import type { Bus, BusMessage } from '../contracts/transport.ts'
import { failedHeader } from './directory.ts'
import { portable } from './portable.ts'
import { lackingOf } from './tools-elsewhere.ts'

const emittedBytesMax = 100_000

/** What a root emitted is heard as events too; of a long list the short ones are kept, such as a refusal. */
const briefReceipt = (receipt: Receipt): Receipt => {
  if (encode(receipt.emitted).length <= emittedBytesMax) return receipt
  return { ...receipt, emitted: receipt.emitted.filter((event) => encode(event).length < emittedBytesMax / 100).slice(0, 100) }
}

/** What a question is about; one without a line here takes nothing more. A later version may say more than is known here. */
const asks = new Map<string, z.ZodType<unknown[]>>(
  Object.entries({
    send: z.tuple([
      z.unknown(),
      z
        .looseObject({ id: z.string().optional(), renews: z.string().optional(), cause: z.string().optional(), mustExist: z.boolean().optional() })
        .optional(),
    ]),
    seqOf: z.tuple([z.string()]),
    nextCommit: z.tuple([z.number().min(0)]),
  } satisfies Partial<Record<Question, z.ZodType>>),
)
const Body = z.looseObject({ address: z.string(), args: z.array(z.unknown()) })
const hint = 'only nodes of the same version ask here; everybody else asks `statecast.api.…`'

/** @throws RuntimeError bad_request */
const bodyOf = (name: string, data: Uint8Array): { address: string; args: unknown[] } => {
  let body: unknown
  try {
    body = decode(data)
  } catch (cause) {
    throw new RuntimeError('bad_request', 'the question cannot be read', { cause, hint })
  }
  const { address, args } = parseInput(Body, body, hint)
  return { address, args: parseInput(asks.get(name) ?? z.array(z.unknown()), args, hint) }
}

/** Of an actor it is its state that is large, and the node that asked cannot make that smaller. */
const tooLarge = (subject: string, cause: RuntimeError): RuntimeError =>
  new RuntimeError('too_large', `the answer of another node to '${lastToken(subject)}' does not fit into one message: ${cause.message}`, {
    cause,
    hint: "keep less in the actor's context, such as the hash of a blob, or raise the server's max_payload",
    data: cause.data,
  })

const lastToken = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1)

/** @param drain what happens when an operator asks this node to go @returns the stopper */
export const serveNodeRpc = (
  { host, agents, bus, names, log }: { host: Host; agents: AgentTable; bus: Bus; names: Subjects; log: Logger },
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
      // The caller asks the next holder again; but an answer that does not fit would never fit.
      if (isRuntimeError(error) && error.code === 'too_large') say(to, errorBody(tooLarge(subject, error)), { [failedHeader]: '1' })
      else log.debug({ subject, error: errorBody(error) }, 'another node got no answer')
    }
  }
  const take = async (message: BusMessage): Promise<void> => {
    const name = lastToken(message.subject)
    try {
      if (name === 'drain') {
        drain()
        reply(message, true)
        return
      }
      if (name === 'here') return reply(message, true)
      if (name === 'tools') return reply(message, await lackingOf(agents, decode(message.data)))
      const { address, args } = bodyOf(name, message.data)
      const answered = portable(await answer(host, name as Question, parseAddress(address), args))
      // What was accepted must not be refused because the receipt is long.
      reply(message, name === 'send' ? briefReceipt(answered as Receipt) : answered)
    } catch (error) {
      reply(message, errorBody(error), { [failedHeader]: '1' })
    }
  }
  return bus.subscribe(names.node(node, '*'), (message) => void take(message))
}
