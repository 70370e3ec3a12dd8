/** Asks a node for something that this page's own table of commands need not have: an older node says that it does not know it. */
import type { SocketClient } from '../../../../src/client/socket/index.ts'

type Loose = <Result>(method: string, params: object) => Promise<Result>

export const call = <Result>(client: SocketClient, method: string, params: object): Promise<Result> =>
  (client.call as unknown as Loose)<Result>(method, params)
