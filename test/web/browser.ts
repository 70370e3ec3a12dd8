/** The chat page in a browser, built as it is shipped, with a model that follows a script. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect } from 'vitest'
import { launchChromium } from '../support/chromium.ts'
import type { SceneName } from './page/scenes.ts'
import type { ScriptedModel } from './page/scripted.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-page-'))
/** Where pictures for people go; they are kept where SCREENSHOTS names a folder. */
export const pictures = process.env.SCREENSHOTS ?? join(folder, 'pictures')
const built = join(folder, 'page')

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

let server: Server
let browser: Browser
let address: string
/** Once in a file: builds the page, serves it, and starts the browser for its tests. */
export const withBrowser = (): void => {
  beforeAll(async () => {
    const config = fileURLToPath(new URL('page/vite.config.ts', import.meta.url))
    await build({ configFile: config, build: { outDir: built } })
    server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', 'http://page').pathname
      const file = join(built, path === '/' ? 'index.html' : path)
      if (!existsSync(file)) return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream', 'content-security-policy': policy })
      response.end(readFileSync(file))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await new Promise((done) => server.close(done))
    rmSync(folder, { recursive: true, force: true })
  })
}

type Looks = { width?: number; dark?: boolean; still?: boolean }

/** Opens a scene, hands it over, and fails if the browser had anything to complain about. */
export const onPage = async (scene: SceneName, looks: Looks, story: (page: Page) => Promise<void>): Promise<void> => {
  const { width = 1440, dark = false, still = false } = looks
  const context = await browser.newContext({
    viewport: { width, height: width < 720 ? 844 : 900 },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: still ? 'reduce' : 'no-preference',
    hasTouch: width < 720,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  try {
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${address}?scene=${scene}`)
    await page.locator('.page').waitFor()
    await story(page)
    expect(complaints).toEqual([])
  } finally {
    await context.close()
  }
}

/** Runs in the page, with the model of its script. */
export const scripted = <Result, Rest extends unknown[]>(
  page: Page,
  does: (model: ScriptedModel, ...rest: Rest) => Result,
  ...rest: Rest
): Promise<Awaited<Result>> => page.evaluate<Awaited<Result>>(`(${String(does)})(window.scripted, ...${JSON.stringify(rest)})`)
/** What somebody did. Not what stands before a beginning that is in sight: that is asked for by itself. */
export const asked = (page: Page): Promise<unknown[][]> => scripted(page, (model) => model.asked.filter(([what]) => what !== 'loadEarlier'))
export const fromEnd = (page: Page): Promise<number> =>
  page.locator('[data-log]').evaluate((log) => Math.round(log.scrollHeight - log.clientHeight - log.scrollTop))
