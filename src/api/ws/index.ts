/** The gateway's WebSocket: frames as in `src/contracts/gateway.ts`. */
export { type Sockets, serveSockets } from './serve.ts'
