/** Executables behind a real HTTP server, and a reader of server-sent events that is not ours. */
import type { AddressInfo } from 'node:net'
import { serve as serveNode } from '@hono/node-server'
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/index.ts'
import { type AnyExecutable, type Handler, ladder, type ServeOptions, serve } from '../../../src/ladder/index.ts'
import { afterThisTest } from '../../support/cleanup.ts'

export const token = 'a-token-of-thirty-two-characters'
export type Frame = { event: string; id?: string; data: any }

export const listening = async (handler: Handler): Promise<string> => {
  const server = serveNode({ fetch: handler, hostname: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => server.once('listening', resolve))
  afterThisTest(() => new Promise((resolve) => ('closeAllConnections' in server && server.closeAllConnections(), server.close(resolve))))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const aServer = async (executables: AnyExecutable[], options: Partial<ServeOptions> = {}, app: RuntimeOptions = {}) => {
  const runtime: Runtime = await createRuntime({ transport: 'memory:', extensions: [ladder({ executables })], ...app })
  afterThisTest(() => runtime.close())
  const url = await listening(serve(executables, { token, ...options }))
  const post = (path: string, body?: unknown, { headers = {}, ...more }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body ?? {}),
      ...more,
    })
  return { runtime, url, post }
}

export async function* framesIn({ body }: Response): AsyncGenerator<Frame> {
  let rest = ''
  for await (const chunk of (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
      if (fields.data === undefined) continue
      yield {
        event: fields.event ?? '',
        ...(fields.id !== undefined && { id: fields.id }),
        data: fields.data.startsWith('{') ? JSON.parse(fields.data) : fields.data,
      }
    }
  }
}

export const all = async (response: Response): Promise<Frame[]> => {
  const frames: Frame[] = []
  for await (const frame of framesIn(response)) frames.push(frame)
  return frames
}
