/** A server made with the SDK of MCP, for tests: what a usual server does, and some of what goes wrong with one. */
import { spawn } from 'node:child_process'
import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

export const mcpTools = (): McpServer => {
  const server = new McpServer({ name: 'desk', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

  server.registerTool(
    'add',
    {
      description: 'adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  )
  server.registerTool(
    'note',
    { description: 'writes a note', inputSchema: z.object({ text: z.string() }), annotations: { idempotentHint: true } },
    () => text('written'),
  )
  server.registerTool('env', { description: 'its environment', annotations: { readOnlyHint: true } }, () => text(JSON.stringify(process.env)))
  server.registerTool('picture', { description: 'a picture', annotations: { readOnlyHint: true } }, () => ({
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', data: Buffer.from('pixels').toString('base64'), mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'the file' } },
    ],
  }))
  server.registerTool('refuse', { description: 'fails', annotations: { readOnlyHint: true } }, () => ({ ...text('no such row'), isError: true }))
  server.registerTool(
    'long',
    { description: 'answers at length', inputSchema: z.object({ bytes: z.number() }), annotations: { readOnlyHint: true } },
    ({ bytes }) => text('x'.repeat(bytes)),
  )
  server.registerTool('die', { description: 'ends the server', annotations: { idempotentHint: true } }, () => process.exit(3))
  server.registerTool('grow', { description: 'adds a tool', annotations: { readOnlyHint: true } }, () => {
    server.registerTool('grown', { description: 'is new', annotations: { readOnlyHint: true } }, () => text('new'))
    return text('grown')
  })
  server.registerTool('family', { description: 'starts a process of its own', annotations: { readOnlyHint: true } }, () => {
    const { pid } = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    return text(JSON.stringify({ own: process.pid, child: pid }))
  })
  server.registerTool('wait', { description: 'waits until it is told to stop', annotations: { readOnlyHint: true } }, async (context: any) => {
    const { signal, _meta, notify } = context.mcpReq
    await notify({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken, progress: 1, message: 'waiting' } })
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    process.stderr.write('told to stop\n')
    return text('stopped')
  })
  return server
}
