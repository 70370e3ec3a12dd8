/** A node's commands over HTTP. `node:http` rather than fetch: no limits of its own on how long an answer may take. */

import { Agent, type IncomingMessage, request } from 'node:http'
import type { CommandName } from '../contracts/commands.ts'
import { definedOf } from '../contracts/defined.ts'
import { type ErrorBody, RuntimeError } from '../contracts/errors.ts'
import type { OutEvent } from '../runtime/index.ts'
import type { Client, Subscription } from './client.ts'

type HttpClientOptions = { url: string; token: string | undefined; outageMsMax?: number | undefined }

export const httpClient = ({ url, token, outageMsMax = 0 }: HttpClientOptions): Client => {
  const agent = new Agent({ keepAlive: true })
  const streams = new Set<IncomingMessage>()

  const open = (method: 'GET' | 'POST', path: string, body?: string, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${url}${path}`, {
        method,
        agent,
        headers: {
          ...headers,
          ...definedOf({ authorization: token === undefined ? undefined : `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
      })
      outgoing.once('response', resolve)
      outgoing.once('error', (cause) => reject(unreachable(url, cause)))
      outgoing.end(body)
    })

  return {
    url,
    outageMsMax,
    command: async <Result>(name: CommandName, input: unknown) => {
      const response = await open('POST', `/rpc/${name}`, JSON.stringify(input))
      const body = parse(await textOf(response, url), url)
      if (response.statusCode !== 200) throw errorIn(body, url, response.statusCode)
      return body as Result
    },
    events: async (sessionKey, place): Promise<Subscription> => {
      const listen = async (last = place): Promise<IncomingMessage> => {
        const after = last === undefined ? {} : { 'last-event-id': last }
        const response = await open('GET', `/events?sessionKey=${encodeURIComponent(sessionKey)}`, undefined, after)
        if (response.statusCode !== 200) throw errorIn(parse(await textOf(response, url), url), url, response.statusCode)
        streams.add(response)
        response.once('close', () => streams.delete(response))
        return response
      }
      let response = await listen()
      let stopped = false
      const read = async function* (): AsyncGenerator<OutEvent> {
        for (let last = place; ; ) {
          let gap = false
          for await (const { id, event } of eventsIn(response)) {
            last = id ?? last
            gap = event.type === 'gap'
            if (!gap) yield event
          }
          if (!gap || stopped) return
          // What we were too slow for stands in the journal.
          response = await listen(last)
        }
      }
      return {
        events: read(),
        stop: () => {
          stopped = true
          response.destroy()
        },
      }
    },
    close: async () => {
      for (const stream of streams) stream.destroy()
      agent.destroy()
    },
  }
}

const textOf = async (response: IncomingMessage, url: string): Promise<string> => {
  try {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString('utf8')
  } catch (cause) {
    throw unreachable(url, cause)
  }
}

const parse = (text: string, url: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new RuntimeError('internal', `${url} did not answer with JSON`, { cause, hint: 'is it a Statecast node?' })
  }
}

const errorIn = (body: unknown, url: string, status: number | undefined): RuntimeError => {
  const error = (body as { error?: ErrorBody } | null)?.error
  return error?.code ? RuntimeError.from(error) : new RuntimeError('internal', `${url} answered with status ${status}`)
}

const unreachable = (url: string, cause: unknown): RuntimeError =>
  new RuntimeError('log_unavailable', `the node at ${url} does not answer`, {
    cause,
    retryable: true,
    hint: 'it may be starting or stopping: try again; messages that it accepted are kept',
  })

/** Server-sent events with their ids; ends with the connection. Comments are skipped. */
async function* eventsIn(response: IncomingMessage): AsyncGenerator<{ id: string | undefined; event: OutEvent }> {
  response.setEncoding('utf8')
  let rest = ''
  try {
    for await (const chunk of response) {
      const blocks = (rest + (chunk as string)).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = (name: string) =>
          block
            .split('\n')
            .filter((line) => line.startsWith(`${name}:`))
            .map((line) => line.slice(name.length + 1).trimStart())
        const data = fields('data')
        if (data.length > 0) yield { id: fields('id')[0], event: JSON.parse(data.join('\n')) as OutEvent }
      }
    }
  } catch {
    // The connection broke, or the reader has stopped: either way there is no more.
  }
}
