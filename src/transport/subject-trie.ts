/** Patterns by token, so that the cost of a match grows with the length of the subject and not with the number of subscribers. */

type Branch<Entry> = { next: Map<string, Branch<Entry>>; here: Set<Entry>; rest: Set<Entry> }

type SubjectTrie<Entry> = {
  add(pattern: string, entry: Entry): void
  remove(pattern: string, entry: Entry): void
  /** In order of subscription within each pattern. */
  match(subject: string): Entry[]
}

const branch = <Entry>(): Branch<Entry> => ({ next: new Map(), here: new Set(), rest: new Set() })

/** Takes checked patterns and subjects only. */
export const subjectTrie = <Entry>(): SubjectTrie<Entry> => {
  const root = branch<Entry>()

  const collect = (at: Branch<Entry>, tokens: string[], index: number, found: Entry[]): void => {
    const token = tokens[index]
    if (token === undefined) {
      found.push(...at.here)
      return
    }
    found.push(...at.rest)
    const exact = at.next.get(token)
    if (exact !== undefined) collect(exact, tokens, index + 1, found)
    const any = at.next.get('*')
    if (any !== undefined) collect(any, tokens, index + 1, found)
  }

  const prune = (at: Branch<Entry>, tokens: string[], index: number, entry: Entry): void => {
    const token = tokens[index]
    if (token === undefined) return void at.here.delete(entry)
    if (token === '>') return void at.rest.delete(entry)
    const child = at.next.get(token)
    if (child === undefined) return
    prune(child, tokens, index + 1, entry)
    // Subjects hold ids, so branches without a listener would pile up.
    if (child.next.size === 0 && child.here.size === 0 && child.rest.size === 0) at.next.delete(token)
  }

  return {
    add(pattern, entry) {
      let at = root
      for (const token of pattern.split('.')) {
        if (token === '>') return void at.rest.add(entry)
        const child = at.next.get(token) ?? branch<Entry>()
        at.next.set(token, child)
        at = child
      }
      at.here.add(entry)
    },
    remove: (pattern, entry) => prune(root, pattern.split('.'), 0, entry),
    match(subject) {
      const found: Entry[] = []
      collect(root, subject.split('.'), 0, found)
      return found
    },
  }
}
