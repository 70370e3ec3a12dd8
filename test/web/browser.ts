/** The chat page in a browser, built as it is shipped, with a model that follows a script. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import type { SceneName } from './page/scenes.ts'
import type { ScriptedModel } from './page/scripted.ts'
import { openContext, sharedBrowser, sharedPage } from './shared.ts'

const folder = mkdtempSync(join(tmpdir(), 'statecast-page-'))
/** Where pictures for people go; they are kept where SCREENSHOTS names a folder. */
export const pictures = process.env.SCREENSHOTS ?? join(folder, 'pictures')

let browser: Browser
let address: string
/** Once in a file: opens the browser for its tests, and finds the page that is built for all files. */
export const withBrowser = (): void => {
  beforeAll(async () => {
    ;[address, browser] = [await sharedPage(), await sharedBrowser()]
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })
}

type Looks = { width?: number; dark?: boolean; still?: boolean }

/** Opens a scene, hands it over, and fails if the browser had anything to complain about. */
export const onPage = async (scene: SceneName, looks: Looks, story: (page: Page) => Promise<void>): Promise<void> => {
  const { width = 1440, dark = false, still = false } = looks
  const context = await openContext(browser, {
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
