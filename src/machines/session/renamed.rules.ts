/**
 * A session that was forked under its own key. Its actors say whose they are in `key` or `session` of their contexts and inputs, and effects look up there
 * what they read and write: under the key of the origin they would go on with that one's conversation.
 */

type Plain = Record<string, unknown>
type Node = { context?: unknown; input?: unknown; children?: Record<string, { snapshot: unknown }> }

const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** `key` only where an actor keeps its own: further inside, it is a word of users and tools. */
const named = (value: unknown, from: string, to: string): unknown => {
  if (!isPlain(value)) return value
  const inner = Object.entries(value).map(([name, part]) => [name, isPlain(part) && part.session === from ? { ...part, session: to } : part])
  const own: Plain = Object.fromEntries(inner)
  for (const name of ['key', 'session']) if (own[name] === from) own[name] = to
  return own
}

/** @param tree as XState persists it */
export const renamedSession = (tree: unknown, from: string, to: string): unknown => {
  if (!isPlain(tree)) return tree
  const { context, input, children } = tree as Node
  return {
    ...tree,
    ...('context' in tree && { context: named(context, from, to) }),
    ...('input' in tree && { input: named(input, from, to) }),
    ...(children && {
      children: Object.fromEntries(
        Object.entries(children).map(([id, child]) => [id, { ...child, snapshot: renamedSession(child.snapshot, from, to) }]),
      ),
    }),
  }
}
