/** A conversation over the WebSocket of a gateway: in a browser as in Node, so nothing here is Node's own. */

export type {
  AnswerEntry,
  ChatAction,
  ChatView,
  Decided,
  HistoryMessage,
  HistoryRun,
  NoticeEntry,
  RunningRun,
  SideResult,
  SummaryEntry,
  ToolCard,
  UserEntry,
  ViewBlock,
  ViewEntry,
  WaitingMessage,
} from './chat-view.context.ts'
export { emptyView } from './chat-view.context.ts'
export { viewOf } from './chat-view.rules.ts'
export type { HistoryRead } from './conversation.context.ts'
export { type OpenConversation, openConversation } from './conversation.ts'
export type { SocketConstructor } from './link.ts'
export type { Heard } from './listeners.ts'
export { pageSignals, type Signals } from './signals.ts'
export { type SessionSubscription, type SocketClient, type SocketClientOptions, type SocketStatus, socketClient } from './socket-client.ts'
