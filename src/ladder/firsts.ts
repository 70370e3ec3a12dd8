/** Values by key, of which the one counts that was added first, until whoever added it takes it back. */
export class Firsts<Key, Value> {
  readonly #all = new Map<Key, Set<{ value: Value }>>()

  /** @returns what takes it back */
  add(key: Key, value: Value): () => void {
    const added = { value }
    const values = this.#all.get(key) ?? new Set()
    this.#all.set(key, values.add(added))
    return () => {
      values.delete(added)
      if (values.size === 0 && this.#all.get(key) === values) this.#all.delete(key)
    }
  }

  get(key: Key): Value | undefined {
    return firstOf(this.#all.get(key))?.value
  }

  /** Under whichever key. */
  get any(): Value | undefined {
    return firstOf(firstOf(this.#all.values()))?.value
  }

  get isEmpty(): boolean {
    return this.#all.size === 0
  }
}

const firstOf = <One>(all: Iterable<One> = []): One | undefined => {
  for (const one of all) return one
  return undefined
}
