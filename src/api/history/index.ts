/** What has been said in a conversation, for clients: in pages, bounded, and without what is not for them. */
export { readHistory } from './history.ts'
export { readMessage } from './message.ts'
