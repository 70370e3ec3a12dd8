/** A conversation on NATS in a browser: it comes through any node, and goes on when the node is gone that the page was connected to. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { natsServer } from '../../scripts/nats-server.ts'
import { startProcess } from '../cli/processes.ts'
import { aFolder } from '../cli/run.ts'
import { natsFetchMs, startNats } from '../support/nats.ts'
import { repository } from '../tidy/sources.ts'
import { openContext, sharedBrowser } from './shared.ts'

const app = join(repository, 'test/web/live/app.ts')
const token = 'a-token-that-both-nodes-are-given-0'
let browser: Browser
beforeAll(() => natsServer(), natsFetchMs)
beforeAll(async () => {
  browser = await sharedBrowser()
})
afterAll(() => browser?.close())

/** Nodes of one cluster, all in the folder in which the story waits for the file `go`. */
const aCluster = async () => {
  const server = await startNats()
  onTestFinished(() => server.stop())
  const folder = aFolder()
  const node = async () => {
    const running = startProcess({ folder, env: { STATECAST_URL: server.url, STATECAST_TOKEN: token } }, 'up', '--port', '0', '--json', '--app', app)
    const { url } = JSON.parse(await running.firstLine) as { url: string }
    const killed = async () => {
      running.kill()
      await running.ended
    }
    return { url, page: `${url}/#token=${token}`, killed }
  }
  return { node, goOn: () => writeFileSync(join(folder, 'go'), '') }
}

const aPage = async (address: string): Promise<Page> => {
  const context = await openContext(browser, { viewport: { width: 1440, height: 900 } })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(address)
  await page.getByText(/^Connected/).waitFor()
  return page
}

const words = Array.from({ length: 200 }, (_, index) => `w${index + 1}`)
const told = async (page: Page): Promise<string[]> =>
  (await page.evaluate<string>("document.querySelector('[data-log]').innerText")).match(/\bw\d+\b/g) ?? []
const shows = (page: Page, expected: string[]) => expect.poll(() => told(page), { timeout: 90_000 }).toEqual(expected)
const says = async (page: Page, text: string): Promise<void> => {
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill(text)
  await field.press('Enter')
}

test('[CH-01, CH-12] what is said through one node streams through the other, too', async () => {
  const { node, goOn } = await aCluster()
  const [a, b] = [await node(), await node()]
  const [here, there] = [await aPage(a.page), await aPage(b.page)]

  await says(here, 'story')
  await shows(here, words.slice(0, 100))
  await shows(there, words.slice(0, 100))
  goOn()

  await shows(here, words)
  await shows(there, words)
})

test('[CH-01, CH-76] kill -9 of the node that the page is connected to: through another one the stream goes on, no word lost and none twice', async () => {
  const { node, goOn } = await aCluster()
  const [a, b] = [await node(), await node()]
  const page = await aPage(a.page)
  await says(page, 'story')
  await shows(page, words.slice(0, 100))

  await a.killed()
  const elsewhere = await aPage(b.page)
  await shows(elsewhere, words.slice(0, 100))
  goOn()

  await shows(elsewhere, words)
  expect(await elsewhere.getByText('story', { exact: true }).count()).toBeGreaterThan(0)
})
