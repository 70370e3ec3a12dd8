/** The extension that a runtime has where none is named, and its short forms. */
import { RuntimeError } from './contracts/errors.ts'
import type { RuntimeOptions } from './runtime/index.ts'

/** Loaded only where it is wanted: an app that names its extensions does not pay for it. @throws RuntimeError bad_request, conflict */
export const defaultChat = async ({ channels, sendPolicy }: RuntimeOptions) =>
  (await import('./chat/index.ts')).chat({ ...(channels && { channels }), ...(sendPolicy && { sendPolicy }) })

/** What chat takes belongs to it where extensions are named. @throws RuntimeError bad_request */
export const checkShortForms = ({ extensions, channels, sendPolicy }: RuntimeOptions): void => {
  const [field] = [channels && 'channels', sendPolicy && 'sendPolicy'].filter((name) => name !== undefined)
  if (extensions && field !== undefined)
    throw new RuntimeError('bad_request', `'${field}' stands beside 'extensions'`, { field, hint: `write extensions: [chat({ ${field} })]` })
}
