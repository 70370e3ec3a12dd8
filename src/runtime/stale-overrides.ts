/** Models and credentials that sessions keep for their users, and that may not be used any more: looked for once in each session, and again when the configuration has changed. */
import { definedOf } from '../contracts/defined.ts'
import type { SessionContext } from '../machines/index.ts'
import { mayChoose } from './model-names.ts'
import type { Receiver } from './receive.ts'

/** Sessions of which it is known; an earlier one is looked at again. */
const checkedMax = 10_000

export class StaleOverrides {
  readonly #checked = new Set<string>()
  #of: unknown

  /** @param hash of the configuration that holds */
  constructor(hash: () => string) {
    this.#hash = hash
  }
  readonly #hash: () => string

  /** Whether what the session keeps was fine under the present configuration. Who sets it is told at once whether it is. */
  isChecked(key: string): boolean {
    const hash = this.#hash()
    if (this.#of !== hash) this.#checked.clear()
    this.#of = hash
    return this.#checked.has(key)
  }

  /** @returns how the session is to be changed, and what its users are told; undefined where nothing is wrong */
  async staleIn(key: string, by: Pick<Receiver, 'agent' | 'models' | 'config'>, read: () => Promise<SessionContext | undefined>) {
    if (this.isChecked(key)) return undefined
    const { model, credential } = (await read())?.record.toggles ?? {}
    if (this.#checked.size >= checkedMax) this.#checked.clear()
    this.#checked.add(key)
    if (model !== undefined && !(await mayChoose(model, by)))
      return {
        toggles: { model: null, credential: null },
        stale: { model, ...definedOf({ credential }) },
        notice: `The model ${model} may not be used here any more: this conversation is back to its default.`,
      }
    if (credential === undefined || model === undefined) return undefined
    const known = by.models.profiles?.(model).map(({ id }) => id) ?? []
    if (known.includes(credential)) return undefined
    return {
      toggles: { credential: null },
      stale: { model, credential },
      notice: `The credential ${credential} is none of ${model}: another one is used.`,
    }
  }
}
