/** What models call the tools of MCP servers: the providers take 1 to 64 of A-Z a-z 0-9 _ -, and a server may name a tool as it likes. */

const nameMax = 64

const cleaned = (text: string): string => text.replace(/[^A-Za-z0-9_-]+/g, '_')

/**
 * Gives each tool of a server a name of its own. One that has been named keeps its name as long as the node runs, whatever comes and goes beside it.
 * @param names what the server calls them @param known the names that were given before, by what the server calls them; those that are new are added
 */
export const nameTools = (server: string, names: readonly string[], known: Map<string, string>): void => {
  const taken = new Set(known.values())
  // In an order that does not depend on the server: after a restart each has the name that stands in transcripts.
  for (const name of [...names].sort()) {
    if (known.has(name)) continue
    const whole = `${server}__${cleaned(name) || 'tool'}`
    let given = whole.slice(0, nameMax)
    for (let number = 2; taken.has(given); number++) {
      const ending = `_${number}`
      given = `${whole.slice(0, nameMax - ending.length)}${ending}`
    }
    taken.add(given)
    known.set(name, given)
  }
}
