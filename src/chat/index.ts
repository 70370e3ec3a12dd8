/** Conversations with people on channels. */
export { type ChatOptions, chat } from './chat.ts'
export type { ChatAgent } from './chat-agents.ts'
export { parseModelDirectives } from './delivery/model-directives.rules.ts'
export { shownStream } from './delivery/shown-text.rules.ts'
export { cleanText, visibleText, withoutReasoning } from './delivery/visible-text.rules.ts'
export { abortWord, parseDirectives } from './directives/directives.rules.ts'
export type { LinkHandler, LinkOptions, MediaCandidate, MediaOptions } from './understanding/options.ts'
