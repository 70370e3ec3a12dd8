/** A regular expression as a graph: what it takes is said in {@link refused}. */
import { RuntimeError } from '../../contracts/errors.ts'

type Fits = (unit: number) => boolean
/** A place in the pattern. `end` and `begin` are the anchors. */
export type Node = { kind: 'unit'; fits: Fits; next: number } | { kind: 'fork' | 'begin' | 'end'; next: number[] } | { kind: 'match' }
type Piece = { start: number /** Sets where the piece goes on. */; patch: (next: number) => void }

const nodesMax = 2_000
const repeatMax = 200
const depthMax = 50

const refused = (problem: string): RuntimeError =>
  new RuntimeError('bad_request', `the pattern cannot be used: ${problem}`, {
    field: 'pattern',
    hint: 'it takes . [a-z] [^a] \\d \\w \\s ( ) | * + ? {2,5} ^ $, and \\ before a character that means itself; or leave regex out to search for plain text',
  })

const between =
  (low: number, high: number): Fits =>
  (unit) =>
    unit >= low && unit <= high
const one = (text: string): Fits => between(text.charCodeAt(0), text.charCodeAt(0))
const some =
  (...parts: Fits[]): Fits =>
  (unit) =>
    parts.some((fits) => fits(unit))
const not =
  (fits: Fits): Fits =>
  (unit) =>
    !fits(unit)
const digit = between(48, 57)
const word = some(digit, between(65, 90), between(97, 122), one('_'))
const space: Fits = (unit) => /\s/.test(String.fromCharCode(unit))
const classes: Record<string, Fits> = { d: digit, D: not(digit), w: word, W: not(word), s: space, S: not(space) }
const controls: Record<string, string> = { t: '\t', r: '\r', n: '\n', f: '\f', v: '\v' }

/** Reads a pattern into nodes, from which it can be followed. */
export class PatternParser {
  private readonly text: string
  private readonly ignoreCase: boolean
  private readonly nodes: Node[]
  private at = 0
  private depth = 0

  constructor(text: string, ignoreCase: boolean, nodes: Node[]) {
    this.text = text
    this.ignoreCase = ignoreCase
    this.nodes = nodes
  }

  parse(): Piece {
    const whole = this.choice()
    if (this.at < this.text.length) throw refused(`there is a ) too many at character ${this.at + 1}`)
    return whole
  }

  private choice(): Piece {
    let piece = this.sequence()
    while (this.take('|')) {
      const [first, second] = [piece, this.sequence()]
      piece = {
        start: this.add({ kind: 'fork', next: [first.start, second.start] }),
        patch: (next) => {
          first.patch(next)
          second.patch(next)
        },
      }
    }
    return piece
  }

  private sequence(): Piece {
    let whole: Piece | undefined
    while (this.at < this.text.length && this.text[this.at] !== '|' && this.text[this.at] !== ')') whole = this.joined(whole, this.repeated())
    return whole ?? this.fork('fork')
  }

  private joined(first: Piece | undefined, second: Piece): Piece {
    first?.patch(second.start)
    return first ? { start: first.start, patch: second.patch } : second
  }

  private repeated(): Piece {
    const begin = this.at
    const piece = this.atom()
    const times = this.times()
    if (times === undefined) return piece
    // What makes no difference to whether there is a match.
    this.take('?')
    const end = this.at
    if (this.times()) throw refused('it repeats a repetition; put it in parentheses')
    const whole = this.copies(begin, piece, times)
    this.at = end
    return whole
  }

  private times(): { min: number; max: number } | undefined {
    if (this.take('*')) return { min: 0, max: Number.POSITIVE_INFINITY }
    if (this.take('+')) return { min: 1, max: Number.POSITIVE_INFINITY }
    if (this.take('?')) return { min: 0, max: 1 }
    const [all, low = '0', comma, high] = /^\{(\d{1,4})(,)?(\d{1,4})?\}/.exec(this.text.slice(this.at, this.at + 12)) ?? []
    if (all === undefined) return undefined
    this.at += all.length
    const min = Number(low)
    const max = comma === undefined ? min : high === undefined ? Number.POSITIVE_INFINITY : Number(high)
    if (max < min || min > repeatMax || (max !== Number.POSITIVE_INFINITY && max > repeatMax))
      throw refused(`${all} asks for more than ${repeatMax}, or is upside down`)
    return { min, max }
  }

  /** As many copies as are asked for, each read anew from where it begins in the pattern. */
  private copies(begin: number, first: Piece, { min, max }: { min: number; max: number }): Piece {
    let unused: Piece | undefined = first
    const copy = (): Piece => {
      const given = unused
      unused = undefined
      if (given) return given
      this.at = begin
      return this.atom()
    }
    let whole: Piece | undefined
    for (let count = 0; count < min; count++) whole = this.joined(whole, copy())
    if (max === Number.POSITIVE_INFINITY) return this.joined(whole, this.loop(copy()))
    for (let count = min; count < max; count++) whole = this.joined(whole, this.maybe(copy()))
    return whole ?? this.fork('fork')
  }

  private loop(piece: Piece): Piece {
    const next = [piece.start]
    const start = this.add({ kind: 'fork', next })
    piece.patch(start)
    return { start, patch: (at) => next.push(at) }
  }

  private maybe(piece: Piece): Piece {
    const next = [piece.start]
    const start = this.add({ kind: 'fork', next })
    return {
      start,
      patch: (at) => {
        next.push(at)
        piece.patch(at)
      },
    }
  }

  private atom(): Piece {
    const symbol = this.text[this.at++] ?? ''
    switch (symbol) {
      case '(':
        return this.group()
      case '.':
        return this.unit(() => true)
      case '[':
        return this.unit(this.set())
      case '^':
        return this.fork('begin')
      case '$':
        return this.fork('end')
      case '*':
      case '+':
      case '?':
        throw refused(`${symbol} at character ${this.at} has nothing before it to repeat`)
      case '\\':
        return this.unit(this.escape())
      default:
        return this.unit(one(symbol))
    }
  }

  private group(): Piece {
    if (this.take('?') && !this.take(':')) throw refused('there is no look-around, and no group with a name or flags')
    if (++this.depth > depthMax) throw refused(`it is nested more than ${depthMax} levels deep`)
    const inner = this.choice()
    this.depth--
    if (!this.take(')')) throw refused('a closing parenthesis is missing')
    return inner
  }

  private escape(): Fits {
    const symbol = this.text[this.at++]
    if (symbol === undefined) throw refused('it ends with a \\')
    if (classes[symbol]) return classes[symbol]
    if (controls[symbol]) return one(controls[symbol])
    if (/[A-Za-z0-9]/.test(symbol)) throw refused(`\\${symbol} is not known here`)
    return one(symbol)
  }

  private set(): Fits {
    const negated = this.take('^')
    const parts: Fits[] = []
    for (let first = true; first || this.text[this.at] !== ']'; first = false) {
      const low = this.text[this.at++]
      if (low === undefined) throw refused('a ] is missing')
      if (low === '\\') parts.push(this.escape())
      else if (this.text[this.at] === '-' && this.text[this.at + 1] !== ']' && this.at + 1 < this.text.length) {
        const high = this.text[this.at + 1] as string
        this.at += 2
        if (high < low || high === '\\') throw refused(`${low}-${high} is no range`)
        parts.push(between(low.charCodeAt(0), high.charCodeAt(0)))
      } else parts.push(one(low))
    }
    this.at++
    const fits = this.folded(some(...parts))
    return negated ? not(fits) : fits
  }

  private folded(fits: Fits): Fits {
    if (!this.ignoreCase) return fits
    return (unit) => {
      const text = String.fromCharCode(unit)
      return fits(unit) || fits(text.toLowerCase().charCodeAt(0)) || fits(text.toUpperCase().charCodeAt(0))
    }
  }

  private unit(fits: Fits): Piece {
    const node: Node = { kind: 'unit', fits: this.folded(fits), next: -1 }
    return { start: this.add(node), patch: (next) => Object.assign(node, { next }) }
  }

  private fork(kind: 'fork' | 'begin' | 'end'): Piece {
    const next: number[] = []
    return { start: this.add({ kind, next }), patch: (at) => next.push(at) }
  }

  private add(node: Node): number {
    if (this.nodes.length >= nodesMax) throw refused('it is too long, or repeats too much')
    return this.nodes.push(node) - 1
  }

  private take(symbol: string): boolean {
    if (this.text[this.at] !== symbol) return false
    this.at++
    return true
  }
}
