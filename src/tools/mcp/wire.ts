/** What the SDK of MCP wants of a transport, in words of our own: our types do not need its package, which is loaded where a server is used. */

/** One message of JSON-RPC. */
export type RpcMessage = { jsonrpc: '2.0'; id?: string | number; method?: string; [key: string]: unknown }

export type Wire = {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: RpcMessage) => void) | undefined
  start(): Promise<void>
  send(message: RpcMessage): Promise<void>
  close(): Promise<void>
}

/** Bytes that one message of a server may have. Beyond these the call that it answers fails, and nothing of it is kept. */
export const messageBytesMax = 8 * 1024 * 1024
/** Bytes after which a message that is too long is taken to have no end. */
export const endlessBytes = 64 * 1024 * 1024

/** Codes of errors that are made here, in the place of what a server said. */
export const tooLongCode = -32_950
export const lostCode = -32_951

export const tooLong = (id: string | number): RpcMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: tooLongCode, message: `the answer has more than ${messageBytesMax} bytes` },
})
