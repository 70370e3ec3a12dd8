/**
 * Every command over the bus, in plain JSON: `<prefix>.api.<command>`. It is a micro service as the NATS tools know it, so they find it and read its
 * statistics; any of several nodes answers.
 */
import { commands } from '../../contracts/commands.ts'
import { pause } from '../../contracts/environment.ts'
import { type ErrorBody, errorBody, isRuntimeError, RuntimeError } from '../../contracts/errors.ts'
import { parseJson } from '../../contracts/parse.ts'
import { shownBody } from '../../contracts/redact.ts'
import type { BusMessage } from '../../contracts/transport.ts'
import type { RuntimeParts } from '../../runtime/index.ts'
import { broughtCommands } from '../brought-commands.ts'
import { execute } from '../commands.ts'
import { statusOf } from '../error-status.ts'
import { announceService, errorHeaders } from './micro-service.ts'

const serviceName = 'statecast'
const queue = 'q'
/** Commands that are carried out at the same time; some wait for a turn to end. */
const inFlightMax = 10_000

const largeHint = "ask for less at a time (from, limit), ask a node over HTTP, where answers may be larger, or raise the server's max_payload"

type FrontDoor = {
  /** Takes no more; others answer now. */
  stop(): void
  /** Resolves when what it was asked has been answered, or after `timeoutMs`. */
  idle(timeoutMs: number): Promise<void>
}

export const serveCommands = (parts: RuntimeParts): FrontDoor => {
  const { transport, environment, subjects: names } = parts
  const { bus } = transport
  const running = new Set<Promise<void>>()

  const answer = (reply: string | undefined, body: unknown, headers: Record<string, string> = {}): void => {
    if (reply === undefined) return
    try {
      bus.publish(reply, encode(body), { 'Content-Type': 'application/json', ...headers })
    } catch (error) {
      // An answer that does not fit is an answer too, and a caller that is gone needs none.
      if (isRuntimeError(error) && error.code === 'too_large')
        refuse(reply, { ...errorBody(error), message: `the answer: ${error.message}`, hint: largeHint })
      else environment.log.warn({ error: errorBody(error) }, 'a command could not be answered')
    }
  }
  const refuse = (reply: string | undefined, error: ErrorBody): void => answer(reply, { error }, errorHeaders(error, statusOf(error)))

  const endpointOf = (command: string): string => command.replaceAll('.', '-')
  const service = announceService(
    bus,
    environment.clock,
    {
      name: serviceName,
      description: 'Statecast: durable conversations and actors',
      endpoints: Object.entries({ ...commands, ...inputsOf(broughtCommands(parts)) }).map(([name, { description = '' }]) => ({
        name: endpointOf(name),
        subject: names.api(name),
        queue,
        metadata: { description },
      })),
    },
    answer,
  )

  const take = async ({ subject, data, reply }: BusMessage): Promise<void> => {
    const name = subject.slice(names.api('x').length - 1)
    const done = service.begin(endpointOf(name))
    try {
      if (running.size > inFlightMax)
        throw new RuntimeError('overloaded', `${running.size} commands are being carried out`, { retryable: true, hint: 'ask again later' })
      answer(reply, (await execute(parts, name, parseJson(data, 'request', 'send one JSON object in UTF-8', {}))) ?? null)
      done()
    } catch (error) {
      const body = shownBody(error)
      if (!isRuntimeError(error)) environment.log.error({ error: body, command: name }, 'a command failed')
      done(body)
      refuse(reply, body)
    }
  }

  const stop = bus.subscribe(
    names.everyApi(),
    (message) => {
      const work = take(message).finally(() => running.delete(work))
      running.add(work)
    },
    { queue },
  )
  return {
    stop() {
      stop()
      service.stop()
    },
    async idle(timeoutMs) {
      await Promise.race([Promise.allSettled(running), pause(environment.clock, timeoutMs)])
    },
  }
}

const inputsOf = (brought: ReturnType<typeof broughtCommands>) =>
  Object.fromEntries(Object.entries(brought).map(([name, { input }]) => [name, input]))

const encode = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body))
