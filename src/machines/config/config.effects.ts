/** Shared documents as a kind of root. */
import { type Registration, registerMachine } from '../../actors/index.ts'
import { ConfigEvent } from './config.context.ts'
import { configMachine } from './config.machine.ts'

export const configKind = 'config'

/** @param emptyHash of a document with nothing in it */
export const registerConfig = (emptyHash: string): Registration => ({
  ...registerMachine(configKind, configMachine, { events: ConfigEvent, strict: true, defaultInput: () => ({ value: {}, hash: emptyHash }) }),
  forks: false,
})
