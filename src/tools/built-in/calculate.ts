/** Arithmetic for models, which are bad at it. A parser of its own: nothing that the model writes is ever evaluated as code. */
import { z } from 'zod'
import { RuntimeError } from '../../contracts/errors.ts'
import type { Tool } from '../../contracts/tool.ts'
import { tool } from '../tool.ts'

const charsMax = 1000
const depthMax = 50

const input = z.object({ expression: z.string().min(1).max(charsMax).describe('for example (17 + 3) * 2 ^ 0.5') })

/** `{ expression }` → `{ expression, value }`, value a finite double. */
export const calculateTool = (): Tool =>
  tool({
    name: 'calculate',
    category: 'basic',
    description: 'Evaluates an arithmetic expression exactly as written: numbers, + - * / % ^ and parentheses. Returns its value.',
    input,
    execute: ({ expression }) => ({ expression, value: calculate(expression) }),
    onCrash: 'retry',
    timeoutMs: 5000,
  })

/**
 * The value of an expression. Binding, loosest first: `+ -`, `* / %` (remainder with the sign of the left side, as in JavaScript), a
 * leading sign, `^` (to the right: 2^3^2 is 512, and -2^2 is -4). Doubles throughout.
 * @throws RuntimeError bad_request naming the position, or saying that the value is not a finite number
 */
export const calculate = (expression: string): number => {
  if (expression.length > charsMax) throw invalid(`the expression has ${expression.length} characters; at most ${charsMax} are allowed`)
  const value = new Parser(expression).parse()
  if (!Number.isFinite(value)) throw invalid(Number.isNaN(value) ? 'the result is not a real number' : 'the result is too large')
  return value === 0 ? 0 : value
}

const invalid = (message: string): RuntimeError =>
  new RuntimeError('bad_request', message, { field: 'expression', hint: 'write numbers with + - * / % ^ and parentheses, for example (2 + 3) * 4' })

class Parser {
  private readonly text: string
  private position = 0
  private depth = 0

  constructor(text: string) {
    this.text = text
  }

  parse(): number {
    const value = this.sum()
    if (this.peek() !== '') throw this.unexpected()
    return value
  }

  private sum(): number {
    let value = this.product()
    for (;;) {
      if (this.take('+')) value += this.product()
      else if (this.take('-', '−', '–')) value -= this.product()
      else return value
    }
  }

  private product(): number {
    let value = this.signed()
    for (;;) {
      if (this.take('*', '×', '·')) value *= this.signed()
      else if (this.take('/', '÷')) value /= this.divisor()
      else if (this.take('%')) value %= this.divisor()
      else return value
    }
  }

  private divisor(): number {
    const value = this.signed()
    if (value === 0) throw invalid('division by zero')
    return value
  }

  private signed(): number {
    return this.nested(() => {
      if (this.take('-', '−', '–')) return -this.signed()
      if (this.take('+')) return this.signed()
      return this.power()
    })
  }

  private power(): number {
    const base = this.atom()
    if (!this.take('**', '^')) return base
    const exponent = this.signed()
    if (base === 0 && exponent < 0) throw invalid('division by zero')
    return base ** exponent
  }

  private atom(): number {
    if (this.take('(')) {
      const value = this.sum()
      if (!this.take(')')) throw this.unexpected('a closing parenthesis is missing')
      return value
    }
    this.peek()
    const number = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.exec(this.text.slice(this.position))
    if (number === null) throw this.unexpected()
    this.position += number[0].length
    return Number(number[0])
  }

  // The recursion follows the text, so its depth is bounded here and not by the stack.
  private nested(inner: () => number): number {
    if (++this.depth > depthMax) throw invalid(`the expression is nested more than ${depthMax} levels deep`)
    const value = inner()
    this.depth--
    return value
  }

  private peek(): string {
    while (/\s/.test(this.text[this.position] ?? '')) this.position++
    return this.text[this.position] ?? ''
  }

  private take(...symbols: string[]): boolean {
    this.peek()
    const found = symbols.find((symbol) => this.text.startsWith(symbol, this.position))
    // `2 ** 3` is a power, so a lone `*` must not take the first half of it.
    if (found === undefined || (found === '*' && this.text[this.position + 1] === '*')) return false
    this.position += found.length
    return true
  }

  private unexpected(problem?: string): RuntimeError {
    const symbol = this.peek()
    const found = symbol === '' ? 'the expression ends too early' : `"${symbol}" is not expected at character ${this.position + 1}`
    return invalid(problem === undefined ? found : `${problem}: ${found}`)
  }
}
