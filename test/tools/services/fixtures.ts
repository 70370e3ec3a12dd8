/** Micro services on a bus of this process, and the tools that a directory finds there. */
import type { PlannedCall, Tool, ToolContext } from '../../../src/contracts/tool.ts'
import type { Bus, BusMessage } from '../../../src/contracts/transport.ts'
import { createTools } from '../../../src/tools/registry.ts'
import { serviceDirectory } from '../../../src/tools/services/directory.ts'
import { openMemory } from '../../../src/transport/memory/open.ts'
import { virtualClock } from '../../models/fixtures.ts'
import { anEnvironment, bytesOf, textOf } from '../../transport/harness.ts'
import { aContext, plan } from '../fixtures.ts'

export type Request = {
  input: unknown
  headers: Record<string, string>
  /** Where the answer goes. */
  reply: string
  say(headers: Record<string, string>, body?: string | Uint8Array): void
  answer(body: unknown): void
}

export type ServiceOptions = {
  name?: string
  id?: string
  subject?: string
  endpoint?: string
  metadata?: Record<string, string>
  /** Default: repeats its input. */
  onRequest?: (request: Request) => void
}

export const weatherMetadata = {
  schema: JSON.stringify({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }),
  description: 'tells the weather',
}

/** One instance, as ADR-32 describes it. `deaf` is one whose process stands still. */
export const aService = (
  bus: Bus,
  { name = 'weather', id = 'w1', subject = 'weather.now', endpoint = 'forecast', ...options }: ServiceOptions = {},
) => {
  const { metadata = weatherMetadata, onRequest = ({ input, answer }) => answer(input) } = options
  let deaf = false
  const respond = (reply: string | undefined, body: string | Uint8Array, headers?: Record<string, string>): void => {
    if (reply !== undefined && !deaf) bus.publish(reply, typeof body === 'string' ? bytesOf(body) : body, headers)
  }
  const info = { type: 'io.nats.micro.v1.info_response', name, id, version: '1.0.0', metadata: {} }
  const endpoints = [{ name: endpoint, subject, queue_group: 'q', metadata }]
  const stops = [
    ...['', `.${name}`, `.${name}.${id}`].flatMap((whom) => [
      bus.subscribe(`$SRV.PING${whom}`, ({ reply }) => respond(reply, JSON.stringify({ ...info, type: 'io.nats.micro.v1.ping_response' }))),
      bus.subscribe(`$SRV.INFO${whom}`, ({ reply }) => respond(reply, JSON.stringify({ ...info, endpoints }))),
    ]),
    // Only what can be called has a subject that can be subscribed to.
    ...(/^[a-z]/.test(subject)
      ? [
          bus.subscribe(
            subject,
            ({ data, headers = {}, reply = '' }: BusMessage) =>
              onRequest({
                input: JSON.parse(textOf(data)),
                headers,
                reply,
                say: (more, body = '') => respond(reply, body, more),
                answer: (body) => respond(reply, JSON.stringify(body)),
              }),
            { queue: 'q' },
          ),
        ]
      : []),
  ]
  return {
    kill: () => {
      for (const stop of stops.splice(0)) stop()
    },
    freeze: () => {
      deaf = true
    },
  }
}

export const aWorld = async ({ own = [], allowed = true }: { own?: Tool[]; allowed?: true | string[] } = {}) => {
  const clock = virtualClock()
  const environment = anEnvironment({ clock })
  const { bus, close } = await openMemory({ environment })
  const directory = serviceDirectory(environment, 'statecast')
  const tools = createTools(own, { clock, sources: [directory.toolsFor(allowed)], log: environment.log })
  return {
    clock,
    bus,
    tools,
    warnings: () => environment.lines.filter(({ level }) => level === 'warn').map(({ message, fields }) => ({ message, ...fields })),
    /** Until those that are there have been found. */
    open: async () => {
      directory.start(bus)
      await clock.until(tools.discover!())
    },
    run: (planned: PlannedCall, context: Partial<ToolContext> = {}) => clock.until(tools.run(planned, aContext(context))),
    call: (input: unknown = { city: 'Bonn' }, context: Partial<ToolContext> = {}) =>
      clock.until(tools.run(plan(tools, 'forecast', input), aContext(context))),
    [Symbol.asyncDispose]: async () => {
      directory.stop()
      await close()
    },
  }
}
