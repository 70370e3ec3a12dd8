/** Elements as XML 1.0: every text that goes in comes out as text. */
import { xmlText } from './shown-text.ts'

export type XmlElement = { name: string; attributes: Record<string, string | undefined>; children: XmlElement[] }

export const element = (
  name: string,
  attributes: Record<string, string | undefined> = {},
  children: (XmlElement | undefined)[] = [],
): XmlElement => ({
  name,
  attributes,
  children: children.filter((child) => child !== undefined),
})

export const toXml = (root: XmlElement): string => `<?xml version="1.0" encoding="UTF-8"?>\n${written(root, '')}`

const written = ({ name, attributes, children }: XmlElement, indent: string): string => {
  const head = Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [` ${key}="${xmlText(value)}"`]))
  const inner = children.map((child) => written(child, `${indent}  `)).join('')
  return `${indent}<${name}${head.join('')}${inner === '' ? '/>' : `>\n${inner}${indent}</${name}>`}\n`
}

/** A literal of ECMAScript in which every character is one that XML can hold. */
export const literal = (text: string): string =>
  JSON.stringify(text).replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
