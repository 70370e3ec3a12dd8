/** What `import … from 'statecast/chat'` offers: conversations with people on channels. */
export {
  type ChatAgent,
  type ChatOptions,
  chat,
  type LinkHandler,
  type LinkOptions,
  type MediaCandidate,
  type MediaOptions,
  withoutReasoning,
} from './chat/index.ts'
export type { Heartbeat } from './contracts/agent.ts'
export type { Channel, Delivery, SendKind, SendOptions as ChannelSendOptions, SendRule } from './contracts/channel.ts'
export type { Origin, Payload, Route } from './contracts/reply.ts'
