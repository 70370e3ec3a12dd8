/** Names that look like the one that was meant. */

/** Up to three of `known` within a third of the name's length in edits, or sharing it as a part; nearest first. */
export const nearest = (name: string, known: readonly string[]): string[] => {
  const meant = name.slice(0, 64).toLowerCase()
  if (meant === '') return []
  return known
    .map((candidate) => ({ candidate, distance: likeness(meant, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(meant.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

const likeness = (a: string, b: string): number => (a.length > 2 && (b.includes(a) || a.includes(b)) ? 1 : editDistance(a, b))

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substituted = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(substituted, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
