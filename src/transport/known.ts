/** What is remembered of roots, by key; the root that was not asked about for the longest time is forgotten first. */
const knownMax = 50_000

export class Known<Value> {
  readonly #values = new Map<string, Value>()

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > knownMax) this.#values.delete(this.#values.keys().next().value as string)
  }

  clear(): void {
    this.#values.clear()
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}
