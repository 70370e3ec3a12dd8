/** Several credentials for one provider. Their secrets go to the provider's package and nowhere else. */
import { z } from 'zod'
import { RuntimeError } from '../contracts/errors.ts'
import type { CredentialProfile } from '../contracts/model.ts'
import { providerError } from './provider-error.ts'

/** `key` is an API key, `token` a bearer token, `oauth` a bearer token from a login. */
export type Credential = CredentialProfile & { value: string }
/** By provider, as the part of a reference before the slash names it. */
export type Credentials = Readonly<Record<string, readonly Credential[]>>

/** What the variable of a provider holds, where nothing else is configured. */
export const defaultProfile: CredentialProfile = { id: 'default', type: 'key' }

const Configured = z.record(
  z.string().min(1),
  z
    .array(
      z.strictObject({
        id: z.string().min(1).max(200),
        type: z.enum(['oauth', 'token', 'key']),
        value: z
          .string()
          .transform((value) => value.trim())
          .pipe(z.string().regex(/^[\x20-\x7e]+$/, 'must be the secret alone, without line breaks')),
      }),
    )
    .max(100)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'two of them have one id'),
)

/** @throws RuntimeError bad_request, naming the field and never what it holds */
export const checkCredentials = (credentials: Credentials): Credentials => {
  const result = Configured.safeParse(credentials)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = ['credentials', ...(issue?.path ?? [])].map(String).join('.')
  throw new RuntimeError('bad_request', `${field}: ${issue?.message}`, {
    field,
    hint: "write credentials as { anthropic: [{ id: 'work', type: 'key', value: '…' }] }",
  })
}

/** The credentials configured for a provider; none where its variable counts. */
export const configuredFor = (credentials: Credentials, provider: string): readonly Credential[] =>
  (Object.hasOwn(credentials, provider) ? credentials[provider] : undefined) ?? []

/**
 * The credential of that id.
 * @returns undefined where none is configured: then the variables of the provider count
 * @throws RuntimeError provider_auth when there is none of that id
 */
export const chosen = (credentials: Credentials, provider: string, id: string): Credential | undefined => {
  const configured = configuredFor(credentials, provider)
  const found = configured.find((credential) => credential.id === id)
  if (found !== undefined || (configured.length === 0 && id === defaultProfile.id)) return found
  const ids = configured.length === 0 ? [defaultProfile.id] : configured.map((credential) => credential.id)
  throw providerError('provider_auth', `there is no credential "${id.slice(0, 200)}" for ${provider.slice(0, 200) || 'this model'}`, {
    hint: `there are: ${ids.slice(0, 20).join(', ')}`,
  })
}
