/** What is known of the credentials of providers, kept by one actor per provider, so that all sessions on all nodes share it. */

import { registerMachine } from '../actors/index.ts'
import { errorBody } from '../contracts/errors.ts'
import type { Cooldowns } from '../machines/index.ts'
import { type ProviderContext, ProviderEvent, providerMachine } from '../machines/index.ts'
import type { Services } from './services.ts'

export const providerKind = 'provider'

export const registerProvider = () =>
  registerMachine(providerKind, providerMachine, { events: ProviderEvent, defaultInput: (provider) => ({ provider }) })

export const sharedCooldowns = (services: Pick<Services, 'directory' | 'environment'>): Cooldowns => ({
  async state(provider) {
    const { snapshot } = await services.directory.read({ kind: providerKind, id: provider })
    return (snapshot?.context as ProviderContext | undefined)?.profiles ?? {}
  },
  note(provider, event) {
    // The call has its outcome; that others know of it is worth no waiting.
    services.directory
      .send({ kind: providerKind, id: provider }, event)
      .catch((error: unknown) => services.environment.log.warn({ provider, error: errorBody(error) }, 'the state of a credential could not be kept'))
  },
})
