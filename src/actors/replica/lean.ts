const noEntries = new Map<never, never>()

/** A `Map` that takes no memory while it is empty: of an actor at rest nearly all are, and each is 180 bytes all the same. */
export class LeanMap<Key, Value> {
  #entries: Map<Key, Value> | undefined

  get size(): number {
    return this.#entries?.size ?? 0
  }
  has(key: Key): boolean {
    return this.#entries?.has(key) ?? false
  }
  get(key: Key): Value | undefined {
    return this.#entries?.get(key)
  }
  set(key: Key, value: Value): void {
    this.#entries ??= new Map()
    this.#entries.set(key, value)
  }
  delete(key: Key): boolean {
    const known = this.#entries?.delete(key) ?? false
    if (this.#entries?.size === 0) this.#entries = undefined
    return known
  }
  clear(): void {
    this.#entries = undefined
  }
  keys(): MapIterator<Key> {
    return (this.#entries ?? noEntries).keys()
  }
  values(): MapIterator<Value> {
    return (this.#entries ?? noEntries).values()
  }
  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return (this.#entries ?? noEntries).entries()
  }
}
