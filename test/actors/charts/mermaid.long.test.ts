/** Mermaid that we write, read by Mermaid: in a browser, as it needs one. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chart, nodesOf } from '../../../src/actors/charts/chart.ts'
import { toMermaid } from '../../../src/actors/charts/mermaid.ts'
import { machines } from '../../../src/all-machines.ts'
import { openContext, sharedBrowser } from '../../web/shared.ts'
import { hard } from './hard-machines.ts'

let browser: Browser
let page: Page
beforeAll(async () => {
  browser = await sharedBrowser()
  page = await (await openContext(browser)).newPage()
  await page.addScriptTag({ content: readFileSync(createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js'), 'utf8') })
  await page.evaluate('mermaid.initialize({ startOnLoad: false, maxTextSize: 1e6, maxEdges: 5000 })')
})
afterAll(() => browser.close())

type Read = { states: string[]; edges: { from: string; to: string }[]; svg: string }

const read = (text: string): Promise<Read> =>
  page.evaluate<Read>(`(async () => {
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(${JSON.stringify(text)})
    const states = []
    const edges = []
    const walk = (lines) => {
      for (const line of lines) {
        if (line.stmt === 'state') {
          states.push(line.id)
          if (Array.isArray(line.doc)) walk(line.doc)
        }
        if (line.stmt === 'relation') edges.push({ from: line.state1.id, to: line.state2.id })
      }
    }
    walk(db.getRootDocV2().doc)
    const { svg } = await mermaid.render('drawing', ${JSON.stringify(text)})
    return { states: [...new Set(states)], edges, svg }
  })()`)

test.each(Object.entries({ ...hard, ...machines }))('%s: Mermaid reads as many states and edges as we write, and draws them', async (_, machine) => {
  const drawn = chart(machine)
  const text = toMermaid(drawn)
  const written = text.split('\n').filter((line) => / --> /.test(line) && !line.trimStart().startsWith('%%'))

  const found = await read(text)

  expect(found.edges).toHaveLength(written.length)
  const named = [...text.matchAll(/^\s*state "(?:[^"]*)" as (\S+)/gm)].map(([, id = '']) => id)
  expect(named.length).toBeGreaterThanOrEqual([...nodesOf(drawn.root)].filter(({ type }) => type !== 'history').length - 1)
  for (const id of named) expect(found.states, id).toContain(id)
  expect(found.svg).toMatch(/^<svg /)
})
