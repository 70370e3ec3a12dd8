/** What each lane was in, from commit to commit. */
import type { ActorPath } from '../../../../src/contracts/journal.ts'
import type { Row } from '../fold/protocol.ts'
import { type Lanes, parentPath } from './lanes.rules.ts'
import { isOver, leafText, type Mood, moodOf } from './moods.rules.ts'

/** Columns `from` to before `to`; without `to` it goes on. */
export type Span = { from: number; to: number | undefined; mood: Mood; text: string; path: ActorPath }

export class Spans {
  readonly #byLane = new Map<string, Span[]>()
  readonly #open = new Map<ActorPath, Span>()

  take({ seq, states }: Row, lanes: Lanes): void {
    for (const [path, value] of Object.entries(states)) {
      const key = lanes.keyOf(path)
      const parent = parentPath(path)
      // It is drawn with its tool.
      if (parent !== undefined && lanes.keyOf(parent) === key) continue
      const text = leafText(value)
      const mood = moodOf(value, path)
      const before = this.#open.get(path)
      if (before?.text === text && before.mood === mood) continue
      if (before) before.to = seq
      this.#open.delete(path)
      if (isOver(value) || mood === 'gone') {
        this.#endBelow(path, seq)
        continue
      }
      const span: Span = { from: seq, to: undefined, mood, text: value === 'active' ? '' : text, path }
      this.#open.set(path, span)
      const of = this.#byLane.get(key)
      if (of) of.push(span)
      else this.#byLane.set(key, [span])
    }
  }

  /** What failed keeps its last state; its lane ends with the actor that began it. */
  #endBelow(path: ActorPath, seq: number): void {
    if (path === '/') return
    for (const [below, span] of this.#open)
      if (below.startsWith(`${path}/`)) {
        span.to = seq
        this.#open.delete(below)
      }
  }

  /** Those that are seen between two commits. */
  between(key: string, first: number, last: number): Span[] {
    const all = this.#byLane.get(key) ?? []
    let low = 0
    let high = all.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((all[middle] as Span).from <= last) low = middle + 1
      else high = middle
    }
    const found: Span[] = []
    // Calls that run at the same time overlap, and a lane has few of them.
    for (let index = low - 1, past = 0; index >= 0 && past < 32; index--) {
      const span = all[index] as Span
      if ((span.to ?? Number.POSITIVE_INFINITY) > first) found.push(span)
      else past++
    }
    return found.reverse()
  }

  /** What lives in a lane at a moment, the newest of several. */
  at(key: string, seq: number): Span | undefined {
    return this.between(key, seq, seq).findLast(({ from, to }) => from <= seq && (to ?? Number.POSITIVE_INFINITY) > seq)
  }

  /** The newest that has been in a lane up to a moment, and where there was none the first one after it. */
  nearest(key: string, seq: number): Span | undefined {
    const all = this.#byLane.get(key) ?? []
    return all.findLast(({ from }) => from <= seq) ?? all[0]
  }
}

const gravity: Record<Mood, number> = { fail: 6, doubt: 5, wait: 4, run: 3, clock: 2, rest: 1, gone: 0 }
export const worse = (a: Mood, b: Mood): Mood => (gravity[b] > gravity[a] ? b : a)

/** Pixels that have the same colour, one after the other. */
export type Stretch = { x: number; width: number; mood: Mood }

/** One mood for each pixel, the worst of all that falls into it. */
export const stretchesOf = (spans: readonly Span[], { first, perCommit, width }: { first: number; perCommit: number; width: number }): Stretch[] => {
  const pixels = Array.from({ length: Math.max(0, Math.ceil(width)) }, (): Mood => 'gone')
  for (const { from, to, mood } of spans) {
    if (mood === 'rest') continue
    const start = Math.max(0, Math.floor((from - first) * perCommit))
    const end = Math.min(pixels.length, Math.max(start + 1, Math.ceil(((to ?? Number.POSITIVE_INFINITY) - first) * perCommit)))
    for (let x = start; x < end; x++) pixels[x] = worse(pixels[x] as Mood, mood)
  }
  const stretches: Stretch[] = []
  for (const [x, mood] of pixels.entries()) {
    const last = stretches.at(-1)
    if (last?.mood === mood) last.width++
    else stretches.push({ x, width: 1, mood })
  }
  return stretches.filter(({ mood }) => mood !== 'gone')
}
