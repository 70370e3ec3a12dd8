/** How extensions are, and the one way to load one anew. */
import type { ErrorBody } from '../contracts/errors.ts'
import type { ExtensionCommand } from './extension-command.ts'

/**
 * @property module where it was loaded from, if it was named by a path @property starts how often it has begun its work in this runtime
 * @property startMs how long that took the last time
 */
export type ExtensionReport = {
  name: string
  module?: string
  state: 'waiting' | 'running' | 'stopped' | 'failed'
  starts: number
  startMs?: number
  error?: ErrorBody
}

export type ExtensionControl = {
  list(): ExtensionReport[]
  /** What they bring at the moment, by name. */
  commands(): Readonly<Record<string, ExtensionCommand>>
  /** Loads its module anew and puts it in the place of the old one; who asks meanwhile shares that. @throws RuntimeError not_found, unsupported, bad_request, timeout */
  reload(name: string): Promise<ExtensionReport>
}
