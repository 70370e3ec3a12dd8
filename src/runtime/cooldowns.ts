/** What is known of the credentials of providers, kept by one actor per provider, so that all sessions on all nodes share it. */

import { errorBody } from '../contracts/errors.ts'
import { type Cooldowns, type ProviderContext, providerKind } from '../machines/index.ts'
import type { SharedParts } from './parts.ts'

export const sharedCooldowns = ({ directory, environment }: Pick<SharedParts, 'directory' | 'environment'>): Cooldowns => ({
  async state(provider) {
    const { snapshot } = await directory.read({ kind: providerKind, id: provider })
    return (snapshot?.context as ProviderContext | undefined)?.profiles ?? {}
  },
  note(provider, event) {
    // The call has its outcome; that others know of it is worth no waiting.
    directory
      .send({ kind: providerKind, id: provider }, event)
      .catch((error: unknown) => environment.log.warn({ provider, error: errorBody(error) }, 'the state of a credential could not be kept'))
  },
})
