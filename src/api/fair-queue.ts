/** A queue that takes turns: among the widest owners first, then among what each of them has, down to single connections. */

class Branch<Item> {
  /** The one served least recently first. */
  readonly #children = new Map<unknown, Branch<Item>>()
  readonly #items: Item[] = []

  get isEmpty(): boolean {
    return this.#children.size === 0 && this.#items.length === 0
  }

  push([key, ...rest]: readonly unknown[], item: Item): void {
    if (key === undefined) {
      this.#items.push(item)
      return
    }
    const child = this.#children.get(key) ?? new Branch<Item>()
    this.#children.set(key, child)
    child.push(rest, item)
  }

  shift(): Item | undefined {
    const [first] = this.#children
    if (first === undefined) return this.#items.shift()
    const [key, child] = first
    this.#children.delete(key)
    const item = child.shift()
    // It goes behind all others that wait.
    if (!child.isEmpty) this.#children.set(key, child)
    return item
  }
}

export class FairQueue<Item> {
  readonly #root = new Branch<Item>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @param path the owners of the item, the widest first; none of them undefined */
  push(path: readonly unknown[], item: Item): void {
    this.#size++
    this.#root.push(path, item)
  }

  shift(): Item | undefined {
    const item = this.#root.shift()
    if (item !== undefined) this.#size--
    return item
  }
}
