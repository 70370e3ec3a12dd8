/** A node as `statecast up` starts it, and the web chat of it in a browser. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { startProcess } from '../../cli/processes.ts'
import { aFolder } from '../../cli/run.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { repository } from '../../tidy/sources.ts'
import { openContext, sharedBrowser } from '../shared.ts'

const app = join(repository, 'test/web/live/app.ts')
let browser: Browser
/** Once in a file: opens the browser for its tests. */
export const withLiveBrowser = (): void => {
  beforeAll(async () => {
    if (!existsSync(join(repository, 'dist/web'))) throw new Error('the pages have not been built: run `npm run build:web`')
    browser = await sharedBrowser()
  })
  afterAll(() => browser?.close())
}

const complaints: string[] = []

const aContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
  const context = await openContext(browser, options)
  // Opened after the node, so closed before it is killed: no page loses what it was just loading.
  afterThisTest(async () => {
    await context.close()
    expect(complaints.splice(0)).toEqual([])
  })
  return context
}

/** So that a node that is started anew has the address that the page knows. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

type Announced = { url: string; page: string }

/** @param prepare makes data in its folder before it starts */
export const aNode = async (prepare?: (folder: string) => Promise<void>) => {
  const folder = aFolder()
  await prepare?.(folder)
  const port = await freePort()
  const up = async () => {
    const node = startProcess({ folder }, 'up', '--port', String(port), '--json', '--app', app)
    return { node, ...(JSON.parse(await node.firstLine) as Announced) }
  }
  let running = await up()
  return {
    port,
    page: running.page,
    /** The story goes on. */
    goOn: () => writeFileSync(join(folder, 'go'), ''),
    halt: () => rmSync(join(folder, 'go'), { force: true }),
    killed: async () => {
      running.node.kill()
      await running.node.ended
    },
    started: async () => {
      running = await up()
    },
  }
}

/** @param expected complaints of the browser that belong to the story */
export const aPage = async (address: string, expected = /^$/) => {
  const context = await aContext({ viewport: { width: 1440, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
  const open = async (to = address): Promise<Page> => {
    const page = await context.newPage()
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !expected.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(to)
    if (to === address) await page.getByText('Connected', { exact: true }).waitFor()
    return page
  }
  return { page: await open(), another: open }
}

export const field = (page: Page) => page.getByRole('textbox', { name: 'Message' })
export const says = async (page: Page, text: string): Promise<void> => {
  await field(page).fill(text)
  await field(page).press('Enter')
}
export const shows = (page: Page, text: string | RegExp) => page.locator('[data-log]').getByText(text).first().waitFor()

/** As it is seen: what stands in two blocks is parted. */
export const textOf = (page: Page): Promise<string> => page.evaluate<string>("document.querySelector('[data-log]').innerText")
/** A page as a stranger opens it, which complains as much as it wants. */
export const aStrangersPage = async (address: string): Promise<Page> => {
  const page = await (await aContext()).newPage()
  await page.goto(address)
  return page
}
