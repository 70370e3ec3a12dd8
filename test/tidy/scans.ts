/** Whether a search with a pattern can read the same run of a text again from each of many places: `word.*other` in `word word word …`. */
import { type AST, RegExpParser } from '@eslint-community/regexpp'
import { isPotentiallyZeroLength, type ReadonlyFlags, type ToUnicodeSetElement, toUnicodeSet } from 'regexp-ast-analysis'

type CharSet = ReturnType<typeof toUnicodeSet>['chars']
type OneCharacter = Extract<AST.Element, ToUnicodeSetElement>
type Around = { before: AST.Element[]; after: AST.Element[] }

/** Repeats of one character beyond which a run is as good as endless. */
const endless = 1_000

/** The first part that scans a run which its own beginning may stand in, any number of times; undefined where there is none. */
export const scan = ({ source, flags }: { source: string; flags: string }): string | undefined => {
  const parser = new RegExpParser()
  const parsed = parser.parseFlags(flags)
  // It begins at one place only.
  if (parsed.sticky) return undefined
  const pattern = parser.parsePattern(source, 0, source.length, { unicode: parsed.unicode, unicodeSets: parsed.unicodeSets })
  return repeatsIn(pattern).find((repeat) => {
    const run = runOf(repeat, parsed)
    const around = aroundOf(repeat)
    if (run === undefined || around === undefined) return false
    return around.before.some(consumes) && fitsIn(around.before, run, parsed) && mayFail(around.after, parsed)
  })?.raw
}

const repeatsIn = (node: AST.Pattern): AST.Quantifier[] => {
  const found: AST.Quantifier[] = []
  const visit = (alternatives: readonly AST.Alternative[]): void => {
    for (const { elements } of alternatives) for (const element of elements) look(element)
  }
  const look = (element: AST.Element): void => {
    if (element.type === 'Quantifier') {
      if (element.max > endless) found.push(element)
      look(element.element)
    } else if ('alternatives' in element) visit(element.alternatives)
  }
  visit(node.alternatives)
  return found
}

const isOneCharacter = (element: AST.Element | undefined): element is OneCharacter =>
  element?.type === 'Character' || element?.type === 'CharacterSet' || element?.type === 'CharacterClass'

const charactersOf = (element: OneCharacter, flags: ReadonlyFlags): CharSet => toUnicodeSet(element, flags).chars

/** What it repeats, if that is one character of some set. */
const runOf = ({ element }: AST.Quantifier, flags: ReadonlyFlags): CharSet | undefined =>
  isOneCharacter(element) ? charactersOf(element, flags) : undefined

/** What is matched before it and after it; undefined within what looks back, or what is repeated itself. */
const aroundOf = (repeat: AST.Quantifier): Around | undefined => {
  const around: Around = { before: [], after: [] }
  for (let node: AST.Element = repeat; ; ) {
    const { parent } = node as { parent: AST.Node }
    if (parent.type !== 'Alternative') return undefined
    const at = parent.elements.indexOf(node)
    around.before.unshift(...parent.elements.slice(0, at))
    around.after.push(...parent.elements.slice(at + 1))
    const owner: AST.Node = parent.parent
    if (owner.type === 'Pattern') return around
    if (owner.type === 'Assertion' && owner.kind === 'lookbehind') return undefined
    node = owner as AST.Element
  }
}

const consumes = (element: AST.Element): boolean => element.type !== 'Assertion' && !(element.type === 'Quantifier' && element.max === 0)

/** Whether some text of these consists of characters of the run alone. */
const fitsIn = (elements: readonly AST.Element[], run: CharSet, flags: ReadonlyFlags): boolean =>
  elements.every((element) => fits(element, run, flags))

const fits = (element: AST.Element, run: CharSet, flags: ReadonlyFlags): boolean => {
  if (isOneCharacter(element)) return !charactersOf(element, flags).isDisjointWith(run)
  switch (element.type) {
    case 'Quantifier':
      return element.min === 0 || fits(element.element, run, flags)
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.some(({ elements }) => fitsIn(elements, run, flags))
    case 'Assertion':
      // A text has one beginning, and as many lines as it has newlines.
      if (element.kind === 'start') return flags.multiline === true && run.has(0x0a)
      return element.kind !== 'lookbehind' || !element.negate || !forbids(element, run, flags)
    default:
      return true
  }
}

/** `(?<!x)`, where the run consists of x. */
const forbids = ({ alternatives }: AST.LookbehindAssertion, run: CharSet, flags: ReadonlyFlags): boolean =>
  alternatives.some(({ elements: [one, ...more] }) => more.length === 0 && isOneCharacter(one) && charactersOf(one, flags).isSupersetOf(run))

/** Whether something has to follow the run. */
const mayFail = (after: readonly AST.Element[], flags: ReadonlyFlags): boolean =>
  after.some((element) => element.type === 'Assertion' || !isPotentiallyZeroLength(element, flags))
