/** The browser and the page that web files share, see services.ts. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import { inject } from 'vitest'

const serviceAt = async (path: string): Promise<string> => {
  const response = await fetch(new URL(path, inject('services')))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

/** The Chromium of this worker. Its close() closes the pages of this file only. */
export const sharedBrowser = async (): Promise<Browser> => chromium.connect(await serviceAt(`chromium/${process.env.VITEST_POOL_ID}`))

/** On a busy machine a page takes longer than the 30 s that Playwright waits. */
const patienceMs = 120_000

export const openContext = async (browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> => {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(patienceMs)
  return context
}

/** The address of the built chat page. */
export const sharedPage = (): Promise<string> => serviceAt('page')

declare module 'vitest' {
  interface ProvidedContext {
    /** Where services of the long tier are asked for. */
    services: string
  }
}
