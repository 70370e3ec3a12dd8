/** Each view of the inspector, wide and on a phone, light and dark: pictures to look at, and axe. */
import { expect, test } from 'vitest'
import { aNode, aPage, says, shows, withLiveBrowser } from './live/a-node.ts'
import { inspectorOf, opensBy, order, rpc } from './live/inspector.ts'
import { looksRight, phone, wide } from './live/looks.ts'

withLiveBrowser()

test('where there is no session, what there is else is shown, and found from every list', async () => {
  const node = await aNode()
  for (const event of [{ type: 'pay', amount: 49.9 }, { type: 'refund' }]) await order(node.page, event)
  const { another } = await aPage(node.page)
  const page = await another(inspectorOf(node.page))
  await page.getByRole('button', { name: 'Others 1' }).waitFor()
  await page.getByText('There is no session. Choose one').waitFor()
  await looksRight(page, 'no-session', wide)

  await page.getByRole('button', { name: 'All 0' }).click()
  await page.getByRole('textbox', { name: 'Search sessions' }).fill('o-1')
  await page.getByRole('button', { name: 'Look among actors of other kinds' }).click()
  await page.getByRole('link', { name: /o-1/ }).click()
  await page.getByRole('button', { name: 'Effects' }).waitFor()
  expect(await page.getByRole('button', { name: 'Tools', exact: true }).count()).toBe(0)
  await page.locator('.drawing').waitFor()
  await looksRight(page, 'others', wide)
})

test('an address that nothing can have leaves the page standing: it says what is wrong, and the list leads on', async () => {
  const node = await aNode()
  await order(node.page, { type: 'pay', amount: 49.9 })
  const { another } = await aPage(node.page)
  const wrong: [query: string, said: string][] = [
    ['?kind=%3Cimg%3E&id=x', "'<img>' is not a valid kind of actor"],
    ['?kind=__proto__&id=__proto__', "'__proto__' is not a valid kind of actor"],
    [`?session=${'x'.repeat(6_000)}`, 'an id may have at most 1024 bytes'],
  ]
  for (const [query, said] of wrong) {
    const page = await another(inspectorOf(node.page, query))
    await page.getByRole('alert').getByText(said).waitFor()
    await page.getByRole('alert').getByText('choose what you look for in the list').waitFor()
    await page.getByRole('link', { name: /o-1/ }).click()
    await page.locator('.drawing').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.close()
  }
  const beyond = await another(inspectorOf(node.page, '?kind=order&id=o-1&seq=1e308'))
  await beyond.getByText('1 / 1').waitFor()
  await beyond.locator('.drawing').waitFor()
})

test('who waits for the first session sees it arrive', async () => {
  const node = await aNode()
  const { another } = await aPage(node.page)
  const page = await another(inspectorOf(node.page))
  await page.getByText('No session yet').waitFor()

  await rpc(node.page, 'chat.send', { sessionKey: 'main', message: 'hello' })

  await page.locator('.drawing').waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('session')).toBe('main')
})

test('each view of a session: the list, lanes, words, labels, dialogs, and what a phone shows of them', async () => {
  const node = await aNode()
  const { page: chat, another } = await aPage(node.page)
  await says(chat, 'refund')
  await chat.getByRole('button', { name: 'Allow once' }).click()
  await shows(chat, 'It is done: "refunded 49.9"')
  const page = await another(inspectorOf(node.page))
  await page.getByText('Choose a session in the list').waitFor()
  await looksRight(page, 'sessions')
  await page.getByRole('complementary', { name: 'Sessions' }).getByRole('link').first().click()
  await page.locator('[data-state][aria-current]').first().waitFor()

  await page.getByRole('button', { name: 'Labels' }).click()
  await page.locator('.drawing.labels').waitFor()
  await looksRight(page, 'labels', wide)
  await page.getByRole('button', { name: 'Overview' }).click()
  await page.getByRole('button', { name: 'List', exact: true }).click()
  const words = page.getByRole('list', { name: 'Commits, the newest first' })
  await words.getByText('asks for refund').click()
  await expect.poll(() => new URL(page.url()).searchParams.get('seq')).not.toBeNull()
  await looksRight(page, 'words', wide)
  await page.getByRole('button', { name: 'List', exact: true }).click()
  for (const part of await page.getByRole('complementary', { name: 'Details' }).locator('summary').all()) await part.click()
  await looksRight(page, 'details', wide)

  for (const [key, name] of [
    ['f', 'fork-dialog'],
    ['w', 'what-if-dialog'],
    ['?', 'keys-dialog'],
  ] as const) {
    await opensBy(page, key)
    await looksRight(page, name, [...wide, ...phone])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.setViewportSize({ width: 390, height: 844 })
  const tabs = page.locator('.tabs button')
  for (const tab of await tabs.all()) {
    await page.setViewportSize({ width: 390, height: 844 })
    await tab.click()
    await looksRight(page, `phone-${(await tab.textContent())?.trim().toLowerCase()}`, phone)
  }
})
