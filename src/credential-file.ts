/** Where the credential store of a runtime is. */
import { join } from 'node:path'
import { folderOf } from './client/index.ts'
import type { Variables } from './models/index.ts'
import type { RuntimeOptions } from './runtime/index.ts'

/** @param from where the path of the data folder starts @returns undefined when no option, variable or data folder names a file */
export const credentialFile = (
  options: Pick<RuntimeOptions, 'credentialStore' | 'transport' | 'config'>,
  env: Variables,
  from: string = process.cwd(),
): string | undefined => {
  const named = options.credentialStore ?? (env.STATECAST_CREDENTIALS?.trim() || undefined)
  if (named !== undefined) return named
  const { transport = options.config?.session?.store ?? env.STATECAST_URL ?? 'embedded:./.statecast' } = options
  const folder = typeof transport === 'string' ? folderOf(transport, from) : undefined
  return folder === undefined ? undefined : join(folder, 'credentials.json')
}
