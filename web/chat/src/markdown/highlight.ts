/** Colours for code, loaded when the first block of code has been closed. */
import { common, createLowlight } from 'lowlight'

const lowlight = createLowlight(common)

/** A piece of code and what it is; without a kind it is plain. */
export type Piece = { text: string; kind?: string }

/** What takes longer than this to read is not worth colours. */
const longest = 60_000

/** Pieces that make up the text again when they are joined; undefined where the language is not known. */
export const piecesOf = (text: string, language: string): Piece[] | undefined => {
  if (text.length > longest || !lowlight.registered(language)) return undefined
  return pieces(lowlight.highlight(language, text).children)
}

type Nodes = ReturnType<typeof lowlight.highlight>['children']

const pieces = (nodes: Nodes, kind?: string): Piece[] =>
  nodes.flatMap((node) => {
    if (node.type === 'text') return [kind === undefined ? { text: node.value } : { text: node.value, kind }]
    return node.type === 'element' ? pieces(node.children, kindOf(node.properties.className) ?? kind) : []
  })

/** The five colours of the page, by the names that the grammars use. */
const kinds: [kind: string, names: RegExp][] = [
  ['com', /^hljs-(?:comment|quote|meta)$/],
  ['str', /^hljs-(?:string|regexp|addition|char|subst)$/],
  ['num', /^hljs-(?:number|literal|symbol|bullet)$/],
  ['fn', /^hljs-(?:title|section|name|selector-(?:id|class|tag)|attr|property)$/],
  ['key', /^hljs-(?:keyword|built_in|type|tag|doctag|template-tag|operator|selector-pseudo|deletion)$/],
]

const kindOf = (names: unknown): string | undefined => {
  const [name] = Array.isArray(names) ? names : []
  return kinds.find(([, pattern]) => pattern.test(String(name)))?.[0]
}
