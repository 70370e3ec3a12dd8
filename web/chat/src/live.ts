/** What the page shows of a gateway, and what it asks of it. */
import type { ChatModel, ChatView } from './model.ts'

/** @param options.url of its WebSocket @param options.token empty where none was given */
export const liveModel = ({ url }: { url: string; token: string }): ChatModel => {
  const unsupported = { code: 'unsupported', message: `nothing connects this page to ${url} yet`, retryable: false } as const
  const view: ChatView = {
    connection: { state: 'refused', error: unsupported },
    conversations: [],
    current: { key: 'main', title: 'New conversation', loading: false, running: false, stopping: false, entries: [], waiting: [] },
    models: [],
    thinkingLevels: [],
  }
  const refuse = () => Promise.reject(Object.assign(new Error(unsupported.message), unsupported))
  const nothing = () => {}
  return {
    view: () => view,
    subscribe: () => nothing,
    send: refuse,
    stop: refuse,
    decide: refuse,
    withdraw: refuse,
    open: nothing,
    newConversation: nothing,
    rename: refuse,
    remove: refuse,
    setModel: refuse,
    setThinking: refuse,
    loadEarlier: nothing,
    reconnect: nothing,
  }
}
