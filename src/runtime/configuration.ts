/** The configuration of this node: what is stored, above what its app says, above the defaults. */
import type { AgentTable } from '../contracts/agent.ts'
import { effective, refuseForbidden } from '../contracts/configuration.rules.ts'
import { Configuration, type ConfigurationView } from '../contracts/configuration.ts'
import { RuntimeError } from '../contracts/errors.ts'
import { parseInput } from '../contracts/parse.ts'
import { nearest } from '../tools/index.ts'
import { type DocumentParts, emptyHash, SharedDocument } from './shared-document.ts'

const hint = 'see docs/reference/configuration.md for the keys and what they take'

/** @param agents those of the app: settings of one that is not there are a typing error @throws RuntimeError bad_request naming the key */
export const checkConfiguration = (given: unknown, agents?: Pick<AgentTable, 'keys' | 'has'>): Configuration => {
  refuseForbidden(given)
  const config = parseInput(Configuration, given, hint)
  for (const { id } of config.agents?.list ?? []) {
    if (agents === undefined || agents.has(id)) continue
    const names = [...agents.keys()]
    throw new RuntimeError('bad_request', `agents.list[${id}]: no agent is named '${id}'`, {
      field: `agents.list[${id}]`,
      hint: `there are: ${(nearest(id, names).length > 0 ? nearest(id, names) : names).join(', ')}`,
    })
  }
  return config
}

export class ConfigurationStore {
  /** What the app says. */
  readonly app: Configuration
  readonly #document: SharedDocument<Configuration>
  #made: { of: unknown; view: ConfigurationView }

  constructor(parts: DocumentParts, app: Configuration) {
    this.app = app
    this.#document = new SharedDocument(parts, 'main', (value) => checkConfiguration(value))
    this.#made = { of: undefined, view: { value: effective(app, {}), hash: emptyHash } }
  }

  /** As it holds now: the same object until something has changed. */
  get view(): ConfigurationView {
    const { current } = this.#document
    if (this.#made.of !== current) this.#made = { of: current, view: { value: effective(this.app, current.value), hash: current.hash } }
    return this.#made.view
  }

  /** What has been set, and nothing below it. */
  get stored(): Configuration {
    return this.#document.current.value
  }

  load = (): Promise<void> => this.#document.load()
  follow = (): void => this.#document.follow()
  stop = (): void => this.#document.stop()
  write = (...args: Parameters<SharedDocument<Configuration>['write']>): Promise<void> => this.#document.write(...args)
}
