/** The server of `mcp-tools.ts` as a program: `new` speaks 2026-07-28 alone, `old` the handshake of 2025. */
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { mcpTools } from './mcp-tools.ts'

if (process.argv[2] === 'new') serveStdio(mcpTools, { legacy: 'reject' })
else await mcpTools().connect(new StdioServerTransport())
