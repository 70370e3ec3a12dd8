/** A history, page by page. */
import type { SocketClient } from '../../../../src/client/socket/index.ts'
import { definedOf } from '../../../../src/contracts/defined.ts'
import { isRuntimeError } from '../../../../src/contracts/errors.ts'
import type { History } from './commands.ts'

/** Messages that are read first, and how many more each time that is asked for earlier ones. */
const firstMax = 60
const moreMax = 200
/** Characters of one part of a message: longer ones say that they are cut. */
const charsMax = 100_000

export type Pages = History

const nothing: Pages = { messages: [], runs: [], waiting: [], more: false }

/** The newest messages. @param atLeast how many, where there are as many @throws RuntimeError */
export const pagesFromEnd = async (client: SocketClient, key: string, atLeast: number): Promise<Pages> => {
  const newest = pageOf(client, key, { limit: firstMax })
  // Nothing was said in it yet.
  let read = await newest.catch(ifMissing)
  while (read.more && read.messages.length < atLeast) read = await earlier(client, key, read, Math.min(1_000, atLeast - read.messages.length))
  return read
}

/** The same with those that stand before them. @throws RuntimeError */
export const pagesBefore = (client: SocketClient, key: string, read: Pages): Promise<Pages> => earlier(client, key, read, moreMax)

const earlier = async (client: SocketClient, key: string, read: Pages, limit: number): Promise<Pages> => {
  // A page begins with a message that has a name.
  const [first] = read.messages
  const before = first !== undefined && 'id' in first ? first.id : undefined
  // It was compacted meanwhile: what was read is what there is, and it is read anew soon.
  const page = await pageOf(client, key, { limit, ...definedOf({ before }) }).catch(ifMissing)
  return { ...read, messages: [...page.messages, ...read.messages], runs: [...page.runs, ...read.runs], more: page.more }
}

const pageOf = (client: SocketClient, sessionKey: string, which: { limit: number; before?: string }): Promise<Pages> =>
  client.call<Pages>('chat.history', { sessionKey, details: true, maxChars: charsMax, ...which })

const ifMissing = (error: unknown): Pages => {
  if (isRuntimeError(error) && error.code === 'not_found') return nothing
  throw error
}
