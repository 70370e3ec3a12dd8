/** Conversations with people on channels. */
export { channelTable } from './channels/channel-table.ts'
export { deliverServices, deliveryActor } from './delivery/delivery.effects.ts'
export { parseModelDirectives } from './delivery/model-directives.rules.ts'
export { chatPublisher } from './delivery/render.rules.ts'
export { cleanText, visibleText } from './delivery/visible-text.rules.ts'
export { chatDesk } from './desk/desk.effects.ts'
export { abortWord, parseDirectives } from './directives/directives.rules.ts'
export { heartbeatKind, registerHeartbeat, startHeartbeats } from './heartbeat/heartbeat.effects.ts'
