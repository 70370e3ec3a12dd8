/** The cases as npm has them: a document of SCXML, the events for it, and in which states it is then. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Element, parseXml, withDescendants } from './parse-xml.ts'

export type Case = {
  folder: string
  name: string
  document: Element
  /** How many milliseconds later which event comes. */
  events: { after: number; type: string }[]
  /** The states without states in them, at first and after each event, in alphabetical order. */
  configurations: string[][]
}

type Told = { initialConfiguration: string[]; events: { after?: number; event: { name: string }; nextConfiguration: string[] }[] }

/** Some documents have no case: others invoke them, or people look at what they do. */
export const casesIn = (root: string): Case[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const name = file.slice(0, -'.json'.length)
      const { initialConfiguration, events } = JSON.parse(readFileSync(join(root, file), 'utf8')) as Told
      return {
        folder: dirname(name),
        name,
        document: documentIn(join(root, `${name}.scxml`)),
        events: events.map(({ after = 0, event }) => ({ after, type: event.name })),
        configurations: [initialConfiguration, ...events.map(({ nextConfiguration }) => nextConfiguration)].map((states) => [...states].sort()),
      }
    })

/** With the scripts and data that stand in files beside it. */
const documentIn = (path: string): Element => {
  const document = parseXml(readFileSync(path, 'utf8'))
  for (const element of withDescendants(document)) {
    const { src } = element.attributes
    const isOurs = element.name === 'script' || element.name === 'data'
    if (src !== undefined && isOurs) element.children = [readFileSync(join(dirname(path), src.replace(/^file:/, '')), 'utf8')]
  }
  return document
}
