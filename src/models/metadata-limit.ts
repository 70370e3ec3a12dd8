/** What a provider attaches to an answer, above the limit of a journal. */
import type { RuntimeError } from '../contracts/errors.ts'
import { metadataCharsMax } from '../contracts/provider-metadata.ts'
import { providerError } from './provider-error.ts'

export const metadataTooLarge = (chars: number): RuntimeError =>
  providerError('provider_rejected', `the provider attached ${chars} characters of its own to a step, above the limit of ${metadataCharsMax}`, {
    hint: 'the next step needs them unchanged, so the turn ends here: lower the thinking level, or ask for less in one step',
    data: { chars, charsMax: metadataCharsMax },
  })
