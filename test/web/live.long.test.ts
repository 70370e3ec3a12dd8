/** The web chat in a browser, against a node as `statecast up` starts it. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { aNode, aPage, aStrangersPage, field, says, shows, textOf, withLiveBrowser } from './live/a-node.ts'

withLiveBrowser()

const words = Array.from({ length: 200 }, (_, index) => `w${index + 1}`)
/** The words of the story that the page shows, in their order. */
const told = async (page: Page): Promise<string[]> => (await textOf(page)).match(/\bw\d+\b/g) ?? []
const half = (page: Page) => expect.poll(() => told(page)).toEqual(words.slice(0, 100))
const whole = (page: Page) => expect.poll(() => told(page)).toEqual(words)

test('[CH-01, CH-82, CH-84] text streams in, a tool shows as a card, and the end says what it used', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  expect(page.url()).not.toContain('token')

  await says(page, 'sum')

  await shows(page, 'It is done: 42')
  const card = page.locator('[data-log]').getByRole('button', { name: /add/ }).first()
  await card.click()
  await shows(page, '42')
  await page
    .getByText(/test\/talk|talk/)
    .first()
    .waitFor()
  expect(await page.getByText('sum', { exact: true }).count()).toBeGreaterThan(0)
})

test('a question for permission is answered with a click, yes and no', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'refund')
  await page.getByRole('button', { name: 'Allow once' }).click()
  await shows(page, 'It is done: "refunded 49.9"')

  await says(page, 'refund')
  await page.getByRole('button', { name: /^Deny/ }).click()
  const reason = page.getByRole('textbox', { name: /why|reason/i })
  await reason.fill('not this one')
  await page.getByRole('button', { name: /^Deny/ }).last().click()
  await shows(page, 'not this one')
})

test('what is typed meanwhile joins the turn at its next step, and stop stops it', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'story')
  await half(page)

  await says(page, 'and a word')
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('and a word').waitFor()
  node.goOn()
  await shows(page, 'echo and a word')
  await whole(page)

  node.halt()
  await says(page, 'story')
  await expect.poll(async () => (await told(page)).length).toBe(300)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page
    .getByText(/stopped/i)
    .first()
    .waitFor()
  await expect.poll(async () => (await told(page)).length).toBe(300)
})

test('[CH-71] a page that is loaded again in the middle of an answer misses no word of it and shows none twice', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'story')
  await half(page)

  await page.reload()
  await half(page)
  node.goOn()
  await whole(page)
  await page.reload()
  await whole(page)
})

test('two tabs on one conversation show the same', async () => {
  const node = await aNode()
  const { page, another } = await aPage(node.page)
  await says(page, 'story')
  await half(page)

  const second = await another()
  await half(second)
  await says(second, 'from the other tab')
  await page.getByRole('list', { name: 'Waiting messages' }).getByText('from the other tab').waitFor()
  node.goOn()

  for (const tab of [page, second]) {
    await whole(tab)
    await shows(tab, 'echo from the other tab')
  }
})

test('[CH-07] a node that is killed in the middle of an answer and started anew goes on, and the page with it', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page, /WebSocket connection|ERR_CONNECTION_REFUSED/)
  await says(page, 'story')
  await half(page)

  await node.killed()
  await page.getByText('The connection is gone').first().waitFor()
  node.goOn()
  await node.started()

  await page.getByText('Connected', { exact: true }).waitFor()
  await whole(page)
  await says(page, 'still there?')
  await shows(page, 'echo still there?')
})

test('[CH-07] what is typed while the network is away is sent when it is back', async () => {
  const node = await aNode()
  await using proxy = await startTcpProxy({ to: node.port })
  const { page } = await aPage(node.page.replace(String(node.port), String(proxy.port)), /WebSocket connection|ERR_CONNECTION/)
  await says(page, 'story')
  await half(page)

  proxy.cut()
  await page.getByText('The connection is gone').first().waitFor()
  node.goOn()
  await says(page, 'in the dark')
  await shows(page, 'in the dark')
  proxy.heal()

  await whole(page)
  await shows(page, 'echo in the dark')
})

test('[CH-86] code is highlighted and copied as it was written, and nothing of it is run', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'code')
  await shows(page, 'Here:')
  await expect.poll(() => page.locator('[data-log] pre').first().textContent()).toContain('line199')

  await page.getByRole('button', { name: /copy/i }).first().click()
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')

  await expect.poll(copied).toContain('const line0 = 0 // <script>alert(1)</script>')
  expect(await page.locator('[data-log] script').count()).toBe(0)
  await page.locator('[data-log] .katex').first().waitFor()
})

test('an answer of a megabyte is shown, and what is typed beside it appears', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'megabyte')
  await field(page).pressSequentially('typed meanwhile')
  await expect.poll(async () => (await textOf(page)).length, { timeout: 120_000 }).toBeGreaterThan(900_000)

  await expect.poll(() => field(page).inputValue()).toBe('typed meanwhile')
})

/** A page that was opened with a token which is not the node's, and says so. */
const aRefusedPage = async (address: string): Promise<Page> => {
  const page = await aStrangersPage(address.replace(/token=.*/, 'token=wrong-token-of-thirty-two-characters'))
  await page.getByText('This page has no valid token').first().waitFor()
  return page
}

test('a token that is wrong says what to do', async () => {
  const node = await aNode()
  await aRefusedPage(node.page)
})

test('a page without a token says which address to open', async () => {
  const node = await aNode()
  const page = await aStrangersPage(node.page.replace(/#.*/, ''))
  await page.getByText('Open the address that statecast up printed').first().waitFor()
})

test('[CH-71] conversations are begun, gone between, named and deleted, and each keeps what is its own', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'in the first')
  await shows(page, 'echo in the first')

  await page.getByRole('button', { name: 'New conversation' }).first().click()
  await page.getByRole('heading', { name: 'New conversation' }).waitFor()
  await says(page, 'in the second')
  await shows(page, 'echo in the second')
  await field(page).fill('a draft of the second')
  const list = page.getByRole('navigation', { name: 'Conversations' })
  await list.locator('.conversation', { hasText: 'in the first' }).click()
  await shows(page, 'echo in the first')
  await expect.poll(() => textOf(page)).not.toContain('second')
  await expect.poll(() => field(page).inputValue()).toBe('')
  await list.locator('.conversation', { hasText: 'in the second' }).click()
  await shows(page, 'echo in the second')
  await expect.poll(() => field(page).inputValue()).toBe('a draft of the second')
  await page.reload()
  await shows(page, 'echo in the second')
})

test('[CH-17] what a command answers is shown, and nothing else with it', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'hello')
  await shows(page, 'echo hello')

  await says(page, '/think high')

  await shows(page, /Think\w*: high/)
  await expect.poll(async () => (await textOf(page)).match(/echo hello/g)).toHaveLength(1)

  await page.reload()
  await shows(page, /Think\w*: high/)
  expect((await textOf(page)).match(/echo hello/g)).toHaveLength(1)
  expect((await textOf(page)).match(/Think\w*: high/g)).toHaveLength(1)
})

test('[CH-17] what a command answers in several lines stands in as many', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, '/context detail')
  await shows(page, /in all:/)

  const lines = (await textOf(page)).split('\n')

  expect(lines.filter((line) => /^ *(?:tools|tool add|tool lines|in all): /.test(line))).toHaveLength(4)
})

test('a good address after a bad one is taken', async () => {
  const node = await aNode()
  const page = await aRefusedPage(node.page)

  await page.goto(node.page)

  await page.getByText('Connected', { exact: true }).waitFor()
  await expect.poll(() => page.url()).not.toContain('token')
})

test('a run that failed before it had said anything is still there, with why and with what to do, after a reload', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'fail')
  await page.getByText('The provider refused the key').first().waitFor()

  await page.reload()

  await page.getByText('The provider refused the key').first().waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
})

test('[CH-10] files are chosen or dropped, looked at and removed before they are sent, and stand in the message, also after a reload', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page, /status of 400/)
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  const attached = page.getByRole('list', { name: 'Attached files' })

  await page.getByLabel('Files to attach').setInputFiles([
    { name: 'dot.png', mimeType: 'image/png', buffer: png },
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('my notes') },
    { name: 'secret.txt', mimeType: 'text/plain', buffer: Buffer.from('not this one') },
    { name: 'huge.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_000_001) },
  ])
  await attached.getByText('70 bytes').waitFor()
  await page.getByText('huge.bin is too large: it has 5000001 bytes').waitFor()
  await page.getByRole('button', { name: 'Remove secret.txt' }).click()
  await expect.poll(() => attached.getByRole('listitem').count()).toBe(2)
  await says(page, 'what is this?')

  await shows(page, 'echo what is this?')
  await expect.poll(() => attached.count()).toBe(0)
  const picture = page.getByRole('img', { name: 'dot.png' })
  await picture.waitFor()
  await page.reload()
  await picture.waitFor()
  expect(await picture.getAttribute('src')).toMatch(/^blob:/)
  expect(await picture.evaluate((image: HTMLImageElement) => image.decode().then(() => image.naturalWidth))).toBe(1)
  const { width, height } = await picture.evaluate((image) => image.getBoundingClientRect().toJSON() as DOMRect)
  expect(Math.min(width, height), 'a picture of one dot can be seen and hit').toBeGreaterThanOrEqual(44)
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'notes.txt' }).click()
  expect((await saved).suggestedFilename()).toBe('notes.txt')

  await page
    .getByLabel('Files to attach')
    .setInputFiles({ name: 'all.zip', mimeType: 'application/zip', buffer: Buffer.from([0x50, 0x4b, 3, 4, 0, 0xff]) })
  await attached.getByText('cannot be sent to a model').waitFor()
})
