/** A gateway in this process, on a store in memory and a port of its own. */

import { request } from 'node:http'
import { z } from 'zod'
import type { ServeOptions } from '../../../src/api/http/serve.ts'
import { agent, createRuntime, type RuntimeOptions, tool } from '../../../src/index.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { framesIn } from '../../support/event-stream.ts'
import { textOf } from '../../support/openai-server.ts'
import { gatewayOn, token } from '../gateway-on.ts'

export { token }

export type Reply = { status: number; headers: Record<string, string | string[] | undefined>; text: string; json: any }

/** @param app instead of the agents and models that most tests want */
export const aGateway = async (options: Partial<ServeOptions> = {}, app: RuntimeOptions = {}) => {
  const danger = tool({ name: 'danger', description: 'needs a person', input: z.object({}), approval: true, execute: () => 'done' })
  const step = tool({ name: 'step', description: 'one of many', input: z.object({}), execute: () => 'next' })
  const runtime = await createRuntime({
    transport: 'memory:',
    agents: [agent({ name: 'main', model: 'test/echo', tools: [danger, step] })],
    models: {
      'test/echo': ({ messages }) => {
        const last = messages.at(-1)
        const steps = messages.filter(({ role }) => role === 'tool').length
        if (messages[0]?.role === 'user' && messages[0].text === 'long') return { calls: [{ name: steps < 15 ? 'step' : 'danger' }] }
        if (last?.role === 'user' && last.text === 'danger') return { calls: [{ name: 'danger' }] }
        if (last?.role === 'user' && last.text === 'megabyte') return { text: 'x'.repeat(1_000_000) }
        if (last?.role === 'user' && last.text === 'burst') return { text: 'so many words '.repeat(8_000) }
        if (last?.role === 'user' && last.text === 'hang') return { text: 'so far', hang: true }
        return { text: last?.role === 'user' ? `echo ${last.text}` : 'done' }
      },
    },
    ...app,
  })
  const gateway = await gatewayOn(runtime, options)
  afterThisTest(async () => {
    await gateway.close()
    await runtime.close()
  })

  /** Over node:http, where every header can be set. */
  const call = (
    method: string,
    path: string,
    { body, headers = {} }: { body?: string | Buffer; headers?: Record<string, string> } = {},
  ): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${gateway.url}${path}`, { method, headers: { authorization: `Bearer ${token}`, ...headers } }, (incoming) => {
        textOf(incoming).then((text) => {
          const json: unknown = incoming.headers['content-type']?.includes('json') ? JSON.parse(text) : undefined
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json })
        }, reject)
      })
      outgoing.once('error', reject)
      outgoing.end(body)
    })
  const rpc = (command: string, input: unknown = {}): Promise<Reply> => call('POST', `/rpc/${command}`, { body: JSON.stringify(input) })
  return { runtime, gateway, call, rpc }
}

/** The events of a session's stream, one by one. */
export const eventsOf = async (url: string, key: string, headers: Record<string, string> = {}) => {
  const stop = new AbortController()
  const response = await fetch(`${url}/sessions/${encodeURIComponent(key)}/events`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: stop.signal,
  })
  return { status: response.status, events: framesIn(response), stop: () => stop.abort() }
}
