/** The titles of the tests in a file that are really run: not those in comments and texts, and none that is skipped, empty or only planned. */
import { parseAst } from 'vitest/node'

type Node = { type: string; [key: string]: unknown }

/** What makes a test or a group of them; `claim` is a case of a contract that every backend passes. */
const makers = new Set(['test', 'it', 'describe', 'claim'])
/** Of these nobody knows whether they are ever run: the condition may hold nowhere. */
const never = new Set(['skip', 'todo', 'skipIf', 'runIf'])

/** @param code TypeScript */
export const titlesOfTests = (code: string): string[] => titlesIn(parseAst(code, { lang: 'ts' }) as unknown as Node)

const titlesIn = (node: Node): string[] => {
  const made = node.type === 'CallExpression' ? makerOf(node.callee as Node) : undefined
  if (!made) return childrenOf(node).flatMap(titlesIn)
  const [title, ...rest] = node.arguments as Node[]
  if (made.modifiers.some((name) => never.has(name)) || rest.some(isSkipping)) return []
  const body = rest.find(({ type }) => type === 'ArrowFunctionExpression' || type === 'FunctionExpression')
  const inside = rest.flatMap(titlesIn)
  // A group shows what it claims by the tests in it, a test by what it does; a body that is named stands elsewhere.
  const runs = made.name === 'describe' ? inside.length > 0 : !body || doesSomething(body)
  return runs ? [textOf(title), ...rowsOf(node.callee as Node), ...inside] : []
}

/** The rows of `test.each([…])` by the words that each begins with: they stand in its title. */
const rowsOf = (callee: Node): string[] => {
  if (callee.type !== 'CallExpression') return []
  const [rows] = callee.arguments as Node[]
  const elements = (list: Node | undefined): Node[] => {
    if (list?.type === 'TSAsExpression') return elements(list.expression as Node)
    return list?.type === 'ArrayExpression' ? (list.elements as Node[]) : []
  }
  return elements(rows).map((row) => textOf(row.type === 'ArrayExpression' ? elements(row)[0] : row))
}

/** `test`, `test.concurrent`, `test.each([…])`: who makes the test, and what was said about it on the way. */
const makerOf = (callee: Node): { name: string; modifiers: string[] } | undefined => {
  if (callee.type === 'Identifier') return makers.has(String(callee.name)) ? { name: String(callee.name), modifiers: [] } : undefined
  if (callee.type === 'CallExpression') return makerOf(callee.callee as Node)
  if (callee.type === 'TaggedTemplateExpression') return makerOf(callee.tag as Node)
  if (callee.type !== 'MemberExpression') return undefined
  const maker = makerOf(callee.object as Node)
  return maker && { ...maker, modifiers: [...maker.modifiers, String((callee.property as Node).name)] }
}

/** Options such as `{ skip: true }`. */
const isSkipping = ({ type, properties }: Node): boolean =>
  type === 'ObjectExpression' &&
  (properties as Node[]).some(({ key, value }) => never.has(String((key as Node)?.name)) && (value as Node).value !== false)

/** Whether a body begins with neither its end nor a skip. */
const doesSomething = ({ body }: Node): boolean => {
  const { type, body: statements } = body as Node
  if (type !== 'BlockStatement') return true
  const [first] = statements as Node[]
  if (!first || first.type === 'ReturnStatement') return false
  const call = first.expression as Node | undefined
  const callee = call?.type === 'CallExpression' ? (call.callee as Node) : undefined
  return String(((callee?.property as Node) ?? callee)?.name) !== 'skip'
}

/** The constant parts of a title. */
const textOf = (node: Node | undefined): string => {
  if (node?.type === 'Literal') return String(node.value)
  if (node?.type === 'TemplateLiteral') return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…')
  return ''
}

const childrenOf = (node: Node): Node[] =>
  Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter((value): value is Node => typeof value?.type === 'string')
