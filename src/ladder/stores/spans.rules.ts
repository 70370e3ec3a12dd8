/** Which turns have a row, as spans from the first to the last: however many there are, it stays short. Pure. */

export type Spans = readonly (readonly [first: number, last: number])[]

export const spansWith = (spans: Spans, turn: number): Spans => {
  const joined: [number, number][] = []
  for (const [first, last] of [...spans, [turn, turn] as const].toSorted(([one], [other]) => one - other)) {
    const before = joined.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

/** Without turns before `first`. */
export const spansWithout = (spans: Spans, first: number): Spans =>
  spans.flatMap(([from, to]) => (to < first ? [] : [[Math.max(from, first), to] as const]))

export const turnsIn = (spans: Spans): number[] =>
  spans.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index))
