/** The model port: providers, scripts and the offline stand-in. */
export { failed, order, type ProviderState, restingError, restsUntil, succeeded } from './cooldown.rules.ts'
export type { Credentials } from './credentials.ts'
export { failoverReason, fallbacksFor, windowGuard } from './fallback.rules.ts'
export { type CustomModel, createModels } from './models.ts'
export type { Script, ScriptedResponse } from './script.ts'
export { type ScriptedSource, scriptedModel } from './scripted.ts'
export type { Variables } from './server.ts'
export { summaryInstructions } from './summary-prompt.rules.ts'
