/**
 * What the web files of the long tier share: the chat page, built and served once, and a Chromium for each worker. Each starts when the first file asks
 * for it, and ends with the run.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserServer } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { launchChromium } from '../support/chromium.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'"
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const listening = async (listener: RequestListener): Promise<{ server: Server; address: string }> => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** Builds the page as it is shipped, but with a model that follows a script, and serves it. */
const servePage = async (folder: string): Promise<{ server: Server; address: string }> => {
  const { build } = await import('vite')
  await build({ configFile: fileURLToPath(new URL('page/vite.config.ts', import.meta.url)), build: { outDir: folder } })
  return listening((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const file = join(folder, path === '/' ? 'index.html' : path)
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream', 'content-security-policy': policy })
    response.end(readFileSync(file))
  })
}

/** Vitest's globalSetup of the long tier. @returns its end */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-page-'))
  /** By worker: a clipboard and the focus belong to one test at a time. */
  const browsers = new Map<string, Promise<BrowserServer>>()
  let page: ReturnType<typeof servePage> | undefined

  const addressOf = async (service: string, worker: string): Promise<string> => {
    if (service === 'page') return (await (page ??= servePage(join(folder, 'page')))).address
    const browser = browsers.get(worker) ?? launchChromium()
    browsers.set(worker, browser)
    // The next file gets another one where this one has crashed, or did not start.
    const gone = () => browsers.get(worker) === browser && browsers.delete(worker)
    browser.then((one) => one.once('close', gone), gone)
    return (await browser).wsEndpoint()
  }
  const { server, address } = await listening((request, response) => {
    const [, service = '', worker = ''] = (request.url ?? '').split('/')
    addressOf(service, worker).then(
      (found) => response.end(found),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  project.provide('services', address)

  return async () => {
    server.close()
    for (const browser of browsers.values()) await browser.then((one) => one.close()).catch(() => undefined)
    await page?.then((one) => one.server.close()).catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }
}
