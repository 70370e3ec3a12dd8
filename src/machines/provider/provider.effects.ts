/** The credentials of a provider as a kind of root: one actor per provider, which all sessions on all nodes share. */
import { type Registration, registerMachine } from '../../actors/index.ts'
import { ProviderEvent } from './provider.context.ts'
import { providerMachine } from './provider.machine.ts'

export const providerKind = 'provider'

export const registerProvider = (): Registration => ({
  ...registerMachine(providerKind, providerMachine, { events: ProviderEvent, defaultInput: (provider) => ({ provider }) }),
  forks: false,
})
