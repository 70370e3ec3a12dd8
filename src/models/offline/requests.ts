/** What a sentence asks of the offline stand-in. A handful of patterns, each linear in the length of the text. */

export type OfflineRequest =
  | { kind: 'calculate'; expression: string }
  /** Arithmetic that goes on from the last result; there is none yet. */
  | { kind: 'no-result' }
  | { kind: 'now'; timeZone?: string }
  | { kind: 'read'; path: string }
  | { kind: 'list'; path?: string }

const textCharsMax = 10_000
const requestsMax = 10

type Found = { at: number; end: number; request: OfflineRequest }

/**
 * Finds requests in the order in which they are written.
 * @param previous the newest result of the conversation as an operand, for "and plus 9?"
 * @returns the requests, and the operand that the next message would go on from
 */
export const findRequests = (text: string, previous: string | undefined): { requests: OfflineRequest[]; previous: string | undefined } => {
  const considered = text.slice(0, textCharsMax)
  const named = [...findFiles(considered), ...findTime(considered)]
  // A file name such as report-2024.txt is no arithmetic, so what is understood already is taken out first.
  const rest = named.reduce((left, { at, end }) => left.slice(0, at) + ';'.repeat(end - at) + left.slice(end), considered)
  const arithmetic = findArithmetic(rest, previous)
  const requests = [...named, ...arithmetic.found].sort((a, b) => a.at - b.at).slice(0, requestsMax)
  return { requests: requests.map(({ request }) => request), previous: arithmetic.previous }
}

const findTime = (text: string): Found[] =>
  matches(
    text,
    /\b(?:what(?:'s| is)? (?:the )?(?:time|date|day)|(?:current|local) (?:time|date)|what time|which day|today's date|how late)\b(?: is it)?(?: now)?(?: in ([A-Za-z_]{2,32}\/[A-Za-z_/-]{2,32}|UTC))?/gi,
    ([, timeZone]) => (timeZone === undefined ? { kind: 'now' } : { kind: 'now', timeZone }),
  )

const findFiles = (text: string): Found[] => [
  ...matches(
    text,
    /\b(?:read|open|cat|show)(?: me)?(?: the)?(?: (?:file|contents? of))? ["'`]?([\w~./\\-]{0,200}[./][\w/\\-]{1,200})["'`]?/gi,
    ([, path = '']) => ({ kind: 'read', path }),
  ),
  ...matches(text, /\bread (?:the )?file ["'`]?([\w-]{1,200})["'`]?(?=[\s?!,;]|$)/gi, ([, path = '']) => ({ kind: 'read', path })),
  ...matches(
    text,
    /\b(?:list|show|which|what)(?: me)?(?: all)?(?: the| your)? files\b(?:[a-z ]{0,20}? (?:in|of|under) (?:the folder |folder )?["'`]?([\w./-]{1,200}[\w/]))?/gi,
    ([, path]) => (path === undefined || path === 'the' ? { kind: 'list' } : { kind: 'list', path }),
  ),
]

const matches = (text: string, pattern: RegExp, request: (match: RegExpMatchArray) => OfflineRequest): Found[] =>
  [...text.matchAll(pattern)].map((match) => ({ at: match.index, end: match.index + match[0].length, request: request(match) }))

const words: readonly [RegExp, string][] = [
  [/(\d),(?=\d{3}(?!\d))/g, '$1'],
  [/(\d) ?(?:%|percent) of\b/gi, '$1 / 100 *'],
  [/\b(?:multipl(?:y|ied)(?: (?:it|that|this))? by|times)\b/gi, ' * '],
  [/\bdivided?(?: (?:it|that|this))? by\b/gi, ' / '],
  [/\b(?:to the power of|raised to)\b/gi, ' ^ '],
  [/\bsquared\b/gi, ' ^ 2 '],
  [/\b(?:plus|add)\b/gi, ' + '],
  [/\b(?:minus|subtract)\b/gi, ' - '],
  [/\bmod(?:ulo)?\b/gi, ' % '],
  [/(\d) ?x ?(?=\d)/gi, '$1 * '],
  [/\*\*/g, '^'],
]

/** What may stand before an operator that goes on from the last result: "and then what is that plus 9". */
const connectives = new Set("and then now also so what is what's about how it that this the result of please ok okay with to".split(' '))

type Arithmetic = { found: Found[]; previous: string | undefined }

const findArithmetic = (text: string, earlier: string | undefined): Arithmetic => {
  const plain = words.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text)
  const found: Found[] = []
  let previous = earlier
  // Runs of figures, operators and parentheses; the words before a run decide what an operator at its beginning refers to.
  let goesOn = true
  const first = Math.max(0, text.search(/\d/))
  for (const [run] of plain.matchAll(/[\d.+\-*/%^×÷−()\s]+|[^\d.+\-*/%^×÷−()\s]+/g)) {
    if (!/\d/.test(run)) {
      const parts = `${run} `.split(/[?!;\n]|\.\s/)
      goesOn = (goesOn || parts.length > 1) && isConnective(parts.at(-1) ?? '')
      continue
    }
    const request = readRun(tidy(run), goesOn, previous)
    // The rewriting has moved the text about: the first stands where the first figure is, later ones at the end.
    const at = found.length === 0 ? first : text.length
    if (request !== undefined) found.push({ at, end: at, request })
    if (request?.kind === 'calculate') previous = operand(request.expression)
    goesOn = true
    if (found.length === requestsMax) break
  }
  return { found, previous }
}

const readRun = (expression: string, afterConnectives: boolean, previous: string | undefined): OfflineRequest | undefined => {
  // "-3 + 4" stands for itself, "- 3" and "minus 3 plus 4" go on from something.
  const goesOn = afterConnectives && /^[+\-*/%^×÷−]/.test(expression) && !(/^-[\d.]/.test(expression) && isExpression(expression))
  if (!goesOn) return isExpression(expression) ? { kind: 'calculate', expression } : undefined
  if (previous === undefined) return { kind: 'no-result' }
  return { kind: 'calculate', expression: `${previous} ${expression.replace(/^(.)\s*/, '$1 ')}` }
}

/** Without the full stop of the sentence, and without a hyphen or parenthesis that belongs to the words around. */
const tidy = (run: string): string => {
  const expression = run
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/(?<![.+\-*/%^×÷−\s])[.+\-*/%^×÷−\s]+$/, '')
  let surplus = count(expression, '(') - count(expression, ')')
  let from = 0
  let to = expression.length
  for (; surplus > 0 && expression[from] === '('; surplus--) from = pastSpace(expression, from + 1, 1)
  for (; surplus < 0 && expression[to - 1] === ')'; surplus++) to = pastSpace(expression, to - 2, -1) + 1
  return expression.slice(from, to)
}

/** There is one space at most. */
const pastSpace = (text: string, at: number, step: 1 | -1): number => (text[at] === ' ' ? at + step : at)

const count = (text: string, symbol: string): number => text.split(symbol).length - 1

const isExpression = (expression: string): boolean =>
  /\d[\s)]*[+\-*/%^×÷−][-(\s]*\.?\d/.test(expression) && !/^\d{4}-\d{1,2}-\d{1,2}/.test(expression)

const isConnective = (between: string): boolean =>
  between
    .toLowerCase()
    .split(/[^a-z']+/)
    .every((word) => word === '' || connectives.has(word))

/** A plain number as it is, anything else in parentheses. */
export const operand = (expression: string): string => (/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(expression) ? expression : `(${expression})`)
