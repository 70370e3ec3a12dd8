/** The inspector in a browser, against a node as `statecast up` starts it. */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { agent, createRuntime, type Model, scriptedModel } from '../../src/index.ts'
import { aNode, aPage, says, shows, withLiveBrowser } from './live/a-node.ts'

withLiveBrowser()

const pictures = process.env.SCREENSHOTS ?? join(tmpdir(), 'statecast-inspector')
mkdirSync(pictures, { recursive: true })
const picture = (page: Page, name: string) => page.screenshot({ path: join(pictures, `${name}.png`) })

/** The node may end before the page has all of its parts. */
const leaving = /ERR_CONNECTION_REFUSED/

/** The node's page of the inspector, with the token where `statecast up` puts it. */
const inspectorOf = (address: string, query = ''): string => address.replace('/#', `/inspector${query}#`)
const region = (page: Page, name: string) => page.getByRole('region', { name })
const details = (page: Page) => page.getByRole('complementary', { name: 'Details' })
const active = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>("[...document.querySelectorAll('[data-state][aria-current]')].map((one) => one.dataset.state)")

test('a turn with a tool and an approval: the tree, each chart as it changes, why, and the decision given from here', async () => {
  const node = await aNode()
  const { page: chat, another } = await aPage(node.page, leaving)
  await says(chat, 'refund')
  await chat.getByRole('button', { name: 'Allow once' }).waitFor()

  const page = await another(inspectorOf(node.page))
  expect(page.url()).not.toContain('token')
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  await sessions.getByText('waits for you').click()
  const actors = region(page, 'Actors')
  await actors.getByRole('button', { name: /^tool/ }).waitFor()
  expect(await actors.getByRole('button').allTextContents()).toEqual([
    'sessionrunning.answering',
    'desk',
    'turnrunning.awaiting-input',
    'loopinvoking.awaiting-input',
    'tool tool-0awaiting-input',
    'publisheropen.buffering',
    'deliverrunning',
  ])
  await expect.poll(() => active(page)).toContain('session.running.answering')
  await actors.getByRole('button', { name: /^tool/ }).click()
  await expect.poll(() => active(page)).toEqual(['tool.awaiting-input'])
  await details(page).locator('.why').getByText('needsApproval').first().waitFor()

  await picture(page, 'approval-light')
  await details(page).getByRole('button', { name: 'Approve' }).click()
  await shows(chat, 'It is done: "refunded 49.9"')
  await expect.poll(() => active(page)).toEqual(['session.awaiting-input'])
  await page.getByRole('button', { name: 'Labels' }).or(page.getByText('Labels')).click()
  await picture(page, 'after-labels')

  // Back to where it waited.
  await page.keyboard.press('Home')
  await details(page).getByText('commit 1 ·').waitFor()
  await expect.poll(() => page.url()).toContain('seq=1')
  for (let seq = 2; seq <= 3; seq++) {
    await page.keyboard.press('ArrowRight')
    await details(page).getByText(`commit ${seq} ·`).waitFor()
  }
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText(/replay identical/).waitFor()
  await picture(page, 'past')
  await page.keyboard.press('l')
  await expect.poll(() => page.url()).not.toContain('seq=')
})

test('"why?" at an answer leads to the commit in which the model gave it, and shows what it was asked and said', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page, leaving)
  await says(page, 'sum')
  await shows(page, 'It is done: 42')
  await says(page, 'something else')
  await shows(page, 'echo something else')

  await page.getByRole('link', { name: 'Why?' }).first().click()

  await details(page)
    .getByRole('heading', { name: /^Model call/ })
    .waitFor()
  await details(page).getByText('It is done: 42').first().waitFor()
  await details(page).getByText('scripted/test').first().waitFor()
  expect(new URL(page.url()).searchParams.get('session')).toBe('main')
  // A later answer stands behind it.
  await region(page, 'Timeline').getByRole('button', { name: /^Live/ }).click()
  await page.keyboard.press('ArrowLeft')
  await details(page).getByText('echo something else').first().waitFor()
})

/** As a script or another service does it. */
const rpc = async (address: string, command: string, input: object): Promise<unknown> => {
  const { origin, hash } = new URL(address)
  const authorization = `Bearer ${new URLSearchParams(hash.slice(1)).get('token')}`
  const response = await fetch(`${origin}/rpc/${command}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}
const order = (address: string, event: object) => rpc(address, 'actors.send', { kind: 'order', id: 'o-1', event })

test("an author's own machine shows as well: regions, a history, and why a refund was refused", async () => {
  const node = await aNode()
  for (const event of [{ type: 'pay', amount: 49.9 }, { type: 'pause' }, { type: 'resume' }, { type: 'refund' }, { type: 'refund' }])
    await order(node.page, event)
  const { another } = await aPage(node.page, leaving)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))

  await expect
    .poll(() => active(page))
    .toEqual(['order.open', 'order.open.money', 'order.open.parcel', 'order.open.money.paid', 'order.open.parcel.packing'])
  await details(page).getByText('mayRefund').waitFor()
  expect(await details(page).locator('.why li.no').textContent()).toContain('context.refunds = 1')
  await picture(page, 'order')

  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => active(page)).toEqual(['order.paused'])
})

test('a node that is killed and started again is found again, and nothing is missing', async () => {
  const node = await aNode()
  await order(node.page, { type: 'pay', amount: 1 })
  const { another } = await aPage(node.page, /WebSocket|ERR_CONNECTION/)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))
  await expect.poll(() => active(page)).toContain('order.open.money.paid')

  await node.killed()
  await page.getByText('The node does not answer. What you see is complete up to 1.').waitFor()
  await node.started()
  await order(node.page, { type: 'pause' })

  await expect.poll(() => active(page)).toEqual(['order.paused'])
  await region(page, 'Timeline').getByText('2 / 2').waitFor()
})

test('whatever a session holds is shown as text, and a line of 1 MB stays cut until somebody wants it', async () => {
  const node = await aNode()
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202Egnp.exe'
  await order(node.page, { type: 'note', text: `${hostile}${'x'.repeat(1_000_000)}` })
  const { another } = await aPage(node.page, leaving)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))

  await details(page).locator('summary', { hasText: 'note' }).click()
  await details(page).getByText('[U+202E]').first().waitFor()
  expect(await page.evaluate('document.images.length + document.querySelectorAll("body script").length')).toBe(0)
  expect(await page.title()).toBe('o-1 · Inspector')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test('any moment of 10,000 commits is opened, and how long that takes is told', async () => {
  const talk = scriptedModel(() => ({ text: 'yes' }))
  const node = await aNode(async (folder) => {
    const models: Record<string, Model> = { 'test/talk': talk }
    const runtime = await createRuntime({
      transport: `embedded:${join(folder, '.statecast')}`,
      models,
      agents: [agent({ name: 'main', model: 'test/talk' })],
    })
    const session = runtime.session('long')
    for (let turn = 0; turn < 5_000; turn++) await (await session.send(`turn ${turn}`)).result()
    await runtime.close()
  })
  const { another } = await aPage(node.page, leaving)
  const page = await another(inspectorOf(node.page, '?session=long'))
  await region(page, 'Timeline')
    .getByText(/10000 \/ 10000/)
    .waitFor({ timeout: 60_000 })
  await picture(page, 'long')

  const took = await page.evaluate<number[]>(`(async () => {
    const slider = document.querySelector('.slider')
    const took = []
    for (let turn = 0; turn < 60; turn++) {
      const seq = 1 + Math.floor(((turn * 7919) % 10000))
      const start = performance.now()
      slider.value = seq
      slider.dispatchEvent(new Event('input', { bubbles: true }))
      while (!document.querySelector('.inspector [data-look="' + seq + '"]')) await new Promise((resolve) => setTimeout(resolve, 1))
      took.push(performance.now() - start)
    }
    return took
  })()`)
  took.sort((a, b) => a - b)
  console.log(
    `any of 10,000 commits: p50 ${Math.round(took[30] ?? 0)} ms, p95 ${Math.round(took[57] ?? 0)} ms, max ${Math.round(took.at(-1) ?? 0)} ms`,
  )
})
