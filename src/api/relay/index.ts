/** Trees of actors for visualisers of others. */
export { createCapability, relayPath } from './capabilities.ts'
export { Relay, type RelayLimits } from './relay.ts'
