/**
 * An agent's machines with their effects, and the transcript that they share. No file behind this door spells out the type of a chart: packages that take
 * our types may have an XState whose types have other parameters.
 */
export { askAgent, askAgentByStep, withAgents } from './ask/ask.actor.ts'
export type { ConfigContext } from './config/config.context.ts'
export { configKind, registerConfig } from './config/config.effects.ts'
export { contextReport } from './loop/context-report.rules.ts'
export { kindsOf } from './loop/cost.rules.ts'
export { composePrompt, prefixHashes, promptReport } from './loop/prompt.rules.ts'
export type { Cooldowns } from './provider/choose-credential.ts'
export type { ProviderContext } from './provider/provider.context.ts'
export { providerKind, registerProvider } from './provider/provider.effects.ts'
export type { Desk } from './session/desk.setup.ts'
export { shownRecord } from './session/record.rules.ts'
export type { SessionContext } from './session/session.context.ts'
export { askedBesides, registerSession } from './session/session.effects.ts'
export { contentOf, contentsOf, notesOf, transcriptCheck } from './transcript/fold.rules.ts'
export { Transcripts } from './transcript/transcript.ts'
export { Lanes } from './turn/lane.effects.ts'
export type { Publisher } from './turn/publisher.setup.ts'
export { turnEffects } from './turn/turn.effects.ts'
export type { LocalServices, TurnEffects } from './turn/turn.services.ts'
