/** The commands over HTTP, and events as a stream of them. */
export { checkExposure, type Gateway, serveGateway } from './serve.ts'
export { ensureToken, readToken, tokenFile } from './token.ts'
