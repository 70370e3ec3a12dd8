/** `kill -9` while a page is fetched, with real processes and a real page. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

test('[CH-21] a node that is killed in mid-fetch fetches that link again when it is back, and the message is answered with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'statecast-links-'))
  const asked: string[] = []
  const held = Promise.withResolvers<ServerResponse>()
  const server = createServer(({ url = '' }, response) => {
    asked.push(url)
    response.writeHead(200, { 'content-type': 'text/plain' })
    if (url === '/slow' && asked.filter((one) => one === url).length === 1) {
      response.write('half of it')
      held.resolve(response)
    } else response.end(`all of ${url}`)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const workers: ChildProcess[] = []
  onTestFinished(() => {
    for (const worker of workers) worker.kill('SIGKILL')
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const start = (): ChildProcess => {
    const worker = spawn(process.execPath, [join(import.meta.dirname, 'link-worker.ts'), folder, place], { stdio: ['ignore', 'pipe', 'inherit'] })
    workers.push(worker)
    return worker
  }

  const first = start()
  const gone = new Promise((resolve) => first.on('exit', (_, signal) => resolve(signal)))
  await held.promise
  first.kill('SIGKILL')
  await gone
  const said = await textOf(start().stdout!)

  const { text, verdict } = JSON.parse(said) as { text: string; verdict: string }
  expect([await gone, verdict]).toEqual(['SIGKILL', 'identical'])
  expect(text).toContain('all of /quick')
  expect(text).toContain('all of /slow')
  expect(text).not.toContain('half of it')
  expect(asked.filter((one) => one === '/slow')).toHaveLength(2)
})
