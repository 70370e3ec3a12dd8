/** Reads the XML in which the cases are written: elements, attributes, text and comments. Prefixes are dropped, as there is one vocabulary. */
export type Element = { name: string; attributes: Record<string, string>; children: (Element | string)[] }

const token = /<!--.*?-->|<\?.*?\?>|<\/[^>]*>|<([\w:.-]+)((?:"[^"]*"|'[^']*'|[^"'>])*)>|[^<]+/gs
const attribute = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decoded = (text: string): string => text.replace(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole)
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** @throws Error when elements are not closed, or there is none */
export const parseXml = (text: string): Element => {
  const document: Element = { name: '', attributes: {}, children: [] }
  const open = [document]
  for (const [whole, name, rest = ''] of text.matchAll(token)) {
    const parent = open.at(-1)
    if (!parent) break
    if (name !== undefined) {
      const attributes = [...rest.matchAll(attribute)].map(([, key = '', one, other]) => [localName(key), decoded(one ?? other ?? '')])
      const element: Element = { name: localName(name), attributes: Object.fromEntries(attributes), children: [] }
      parent.children.push(element)
      if (!rest.endsWith('/')) open.push(element)
    } else if (whole.startsWith('</')) open.pop()
    else if (!whole.startsWith('<') && whole.trim() !== '') parent.children.push(decoded(whole))
  }
  const [root] = elementsOf(document)
  if (!root || open.length !== 1) throw new Error('this is not one whole XML element')
  return root
}

/** @param names only elements of these */
export const elementsOf = ({ children }: Element, ...names: string[]): Element[] =>
  children.filter((child): child is Element => typeof child !== 'string' && (names.length === 0 || names.includes(child.name)))

export const textOf = ({ children }: Element): string => children.filter((child) => typeof child === 'string').join('')

/** An element and all elements in it, in document order. */
export const withDescendants = (element: Element): Element[] => [element, ...elementsOf(element).flatMap(withDescendants)]
