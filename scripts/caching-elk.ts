/** ELK, which takes seconds for a large chart and depends on the graph alone: each layout is kept in `node_modules/.cache`, by the hash of its graph. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import elkPackage from 'elkjs/package.json' with { type: 'json' }
import type { Elk } from '../src/actors/charts/layout/index.ts'

type Graph = Parameters<Elk['layout']>[0]

const folder = fileURLToPath(new URL('../node_modules/.cache/statecast/layouts/', import.meta.url))

const readLayout = (path: string): Graph | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Graph
  } catch {
    return undefined
  }
}

const writeLayout = (path: string, laid: Graph): void => {
  mkdirSync(folder, { recursive: true })
  // Another process may read it meanwhile.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, JSON.stringify(laid))
  renameSync(draft, path)
}

const loadElk = async (): Promise<Elk> => {
  const { default: ELK } = await import('elkjs/lib/elk.bundled.js')
  return new (ELK as unknown as new () => Elk)()
}
let loaded: Promise<Elk> | undefined

export const cachingElk: Elk = {
  async layout(graph) {
    const hash = createHash('sha256').update(elkPackage.version).update(JSON.stringify(graph)).digest('hex')
    const path = `${folder}${hash}.json`
    const known = readLayout(path)
    if (known) return known
    loaded ??= loadElk()
    const laid = await (await loaded).layout(graph)
    writeLayout(path, laid)
    return laid
  },
}
