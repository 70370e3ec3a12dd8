/** Values by key, of which the newest counts, until whoever added it takes it back: then the one before it does. */
export class Newest<Key, Value> {
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
    return lastOf(this.#all.get(key))?.value
  }

  /** Under whichever key. */
  get any(): Value | undefined {
    return lastOf(this.#all.values().next().value)?.value
  }

  get isEmpty(): boolean {
    return this.#all.size === 0
  }
}

const lastOf = <One>(all: Iterable<One> = []): One | undefined => [...all].at(-1)
