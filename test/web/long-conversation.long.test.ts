/** What is long: conversations, messages and outputs, and what people have allowed for all of it. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aNode, aPage, says, shows, textOf, withLiveBrowser } from './live/a-node.ts'

withLiveBrowser()

test('[CH-43] a tool that is always allowed in this conversation asks no second time', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'refund')
  await page.getByRole('button', { name: 'Always in this conversation' }).click()
  await shows(page, 'It is done: "refunded 49.9"')
  await shows(page, /refund was allowed for this conversation in the web chat/)

  await says(page, 'refund')

  await expect.poll(async () => (await textOf(page)).match(/It is done/g)).toHaveLength(2)
})

test('a text and an output that were cut are shown whole when that is wanted', { timeout: 400_000 }, async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'lines')
  await shows(page, 'Many lines.')
  await page
    .locator('[data-log]')
    .getByRole('button', { name: /^lines/ })
    .click()
  await page.getByRole('button', { name: 'Show all' }).click()
  await shows(page, /row 19999/)

  await says(page, 'megabyte')
  await expect.poll(async () => (await textOf(page)).length, { timeout: 150_000 }).toBeGreaterThan(900_000)
  await page.reload()
  await shows(page, /too large to be shown|cut here/)
  await page.getByRole('button', { name: 'Show all' }).last().click()
  await expect.poll(async () => (await textOf(page)).length, { timeout: 150_000 }).toBeGreaterThan(900_000)
})

test('what begins a conversation anew leaves no empty message', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'hello')
  await shows(page, 'echo hello')
  await says(page, '/new')
  await expect.poll(() => textOf(page)).not.toContain('echo hello')
  await says(page, 'after')
  await shows(page, 'echo after')
  const said = () => page.locator('.said-step').evaluateAll((all) => all.map((one) => one.querySelector('.words')?.textContent ?? ''))
  await expect.poll(said).not.toContain('')
})

const turns = 1_000

/** ms from what a person does, by the clock of the page, until the newest message has been painted. */
const seenAfter = async (page: Page, act: () => Promise<void>): Promise<number> => {
  const watch = `(from) => {
    const look = () => {
      const [log, newest] = [document.querySelector('[data-log]'), 'echo number ${turns}.']
      if (!log?.textContent.includes(newest)) return requestAnimationFrame(look)
      requestAnimationFrame(() => setTimeout(() => { window.seenMs = Math.round(performance.now() - from) }))
    }
    look()
  }`
  if (page.url() === 'about:blank') await page.addInitScript(`(${watch})(0)`)
  else
    await page.evaluate(
      `window.seenMs = undefined; addEventListener('click', ({ timeStamp }) => (${watch})(timeStamp), { capture: true, once: true })`,
    )
  await act()
  const seenMs = () => page.evaluate<number | undefined>('window.seenMs')
  await expect.poll(seenMs).toBeGreaterThan(0)
  return (await seenMs()) as number
}

test('a conversation of 2,000 messages opens at its newest, and older ones come with the place kept', async () => {
  const node = await aNode()
  const address = new URL(node.page)
  const token = new URLSearchParams(address.hash.slice(1)).get('token')
  const call = async (command: string, input: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${address.origin}/rpc/${command}`, { method: 'POST', headers, body: JSON.stringify(input) })
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  for (let turn = 1; turn <= turns; turn++) {
    const id = `turn-${turn}`
    await call('chat.send', { sessionKey: 'main', message: `number ${turn}.`, idempotencyKey: id })
    await call('agent.wait', { sessionKey: 'main', runId: id })
  }

  await call('chat.send', { sessionKey: 'agent:main:web:other', message: 'elsewhere', idempotencyKey: 'elsewhere' })
  await call('agent.wait', { sessionKey: 'agent:main:web:other', runId: 'elsewhere' })

  const { page, another } = await aPage(node.page)
  const log = page.locator('[data-log]')
  const newest = log.getByText(`echo number ${turns}.`)
  await newest.waitFor()
  const cold: number[] = []
  const clicked: number[] = []
  for (let time = 0; time < 3; time++) {
    const fresh = await another('about:blank')
    cold.push(await seenAfter(fresh, () => fresh.goto(node.page).then(() => undefined)))
    await fresh.locator('.side').getByText('elsewhere').first().click()
    await shows(fresh, 'echo elsewhere')
    clicked.push(await seenAfter(fresh, () => fresh.locator('.side').getByText('number 1.').click()))
    await fresh.close()
  }
  console.info(
    `a conversation of ${2 * turns} messages, ms until its newest is painted: ${cold.join(', ')} from navigation, ${clicked.join(', ')} from a click in the list`,
  )
  expect(await newest.evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight)).toBe(true)

  // Not as it is seen: turns out of sight are laid out when they are wanted.
  const shown = async () => ((await page.locator('[data-log]').textContent())?.match(/echo number \d+/g) ?? []).map((one) => Number(one.slice(12)))
  const all = Array.from({ length: turns }, (_, index) => index + 1)
  await expect.poll(shown).toEqual(all.slice(-(await shown()).length))
  const first = (await shown())[0] as number
  await log.hover()
  await page.mouse.wheel(0, -1_000_000)
  await expect.poll(async () => (await shown())[0]).toBeLessThan(first)
  const top = () => log.getByText(`echo number ${first}.`).evaluate((one) => Math.round(one.getBoundingClientRect().top))
  await expect.poll(async () => Math.abs((await top()) - 300)).toBeLessThan(300)
  const now = await shown()
  expect(now).toEqual(all.slice(-now.length))
}, 300_000)
