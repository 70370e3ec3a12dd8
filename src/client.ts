/** What `import … from 'statecast/client'` offers to programs beside the nodes. */
/// <reference types="node" preserve="true" />
export {
  type Accepted,
  type Client,
  type ConnectOptions,
  connect,
  type Followed,
  type FollowOptions,
  follow,
  followRun,
  inProcessClient,
  type Subscription,
} from './client/index.ts'
export {
  type AnswerEntry,
  type ChatAction,
  type ChatView,
  emptyView,
  type Heard,
  type HistoryMessage,
  type NoticeEntry,
  type RunningRun,
  type SessionSubscription,
  type Signals,
  type SocketClient,
  type SocketClientOptions,
  type SocketConstructor,
  type SocketStatus,
  type SummaryEntry,
  socketClient,
  type ToolCard,
  type UserEntry,
  type ViewBlock,
  type ViewEntry,
  viewOf,
  type WaitingMessage,
} from './client/socket/index.ts'
export type { CommandInput, CommandName } from './contracts/commands.ts'
export { type ErrorBody, type ErrorCode, errorCodes, isRuntimeError, RuntimeError } from './contracts/errors.ts'
export type { TurnOutput } from './contracts/turn.ts'
export type { OutEvent, RunEvent, SessionView } from './runtime/index.ts'
