/**
 * Regular expressions that look at each character of a line once, whatever the pattern is: all ways to match go forward side by side, as Thompson has it, and
 * the sets of places in the pattern are remembered (a lazy DFA). So there are no back references and no look-around, which nothing linear can have.
 */
import { type Node, PatternParser } from './pattern-parser.rules.ts'

/** A set of places, with what is known of it. */
type State = { seeds: number[]; units: number[]; matches: boolean; matchesAtEnd: boolean; next: Map<number, State> }

/** Transitions that are remembered; then all are forgotten, which costs time and no memory. */
const rememberedMax = 50_000

/**
 * @returns whether a line, given without its end, has a match anywhere
 * @throws RuntimeError bad_request for what is no pattern, or one with a construct that is not linear
 */
export const linePattern = (pattern: string, ignoreCase: boolean): ((line: string) => boolean) => {
  const nodes: Node[] = []
  const { start, patch } = new PatternParser(pattern, ignoreCase, nodes).parse()
  patch(nodes.push({ kind: 'match' }) - 1)
  let states = new Map<string, State>()
  let remembered = 0

  /** All places that are reached without reading a character. */
  const reached = (seeds: readonly number[], atBegin: boolean, atEnd: boolean): Set<number> => {
    const found = new Set<number>()
    const left = [...seeds]
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (found.has(at)) continue
      found.add(at)
      const node = nodes[at] as Node
      if (node.kind === 'fork' || (node.kind === 'begin' && atBegin) || (node.kind === 'end' && atEnd)) left.push(...node.next)
    }
    return found
  }
  const isMatch = (at: number): boolean => nodes[at]?.kind === 'match'
  const stateOf = (seeds: number[], atBegin: boolean): State => {
    const key = `${atBegin ? '^' : ''}${seeds.join(',')}`
    const known = states.get(key)
    if (known) return known
    const open = [...reached(seeds, atBegin, false)]
    const state: State = {
      seeds,
      units: open.filter((at) => nodes[at]?.kind === 'unit'),
      matches: open.some(isMatch),
      matchesAtEnd: [...reached(seeds, atBegin, true)].some(isMatch),
      next: new Map(),
    }
    states.set(key, state)
    return state
  }
  const step = (state: State, unit: number): State => {
    const seeds = new Set<number>([start])
    for (const at of state.units) {
      const node = nodes[at] as Extract<Node, { kind: 'unit' }>
      if (node.fits(unit)) seeds.add(node.next)
    }
    if (++remembered > rememberedMax) {
      remembered = 0
      states = new Map()
    }
    const next = stateOf(
      [...seeds].sort((a, b) => a - b),
      false,
    )
    state.next.set(unit, next)
    return next
  }
  return (line) => {
    let state = stateOf([start], true)
    for (let at = 0; at < line.length && !state.matches; at++) {
      const unit = line.charCodeAt(at)
      state = state.next.get(unit) ?? step(state, unit)
    }
    return state.matches || state.matchesAtEnd
  }
}
