/** The inspector in a browser, against a node as `statecast up` starts it. */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aNode, aPage, says, shows, withLiveBrowser } from './live/a-node.ts'

withLiveBrowser()

const pictures = process.env.SCREENSHOTS ?? join(tmpdir(), 'statecast-inspector')
mkdirSync(pictures, { recursive: true })
const picture = (page: Page, name: string) => page.screenshot({ path: join(pictures, `${name}.png`) })

/** The node's page of the inspector, with the token where `statecast up` puts it. */
const inspectorOf = (address: string, query = ''): string => address.replace('/#', `/inspector${query}#`)
const region = (page: Page, name: string) => page.getByRole('region', { name })
const details = (page: Page) => page.getByRole('complementary', { name: 'Details' })
const active = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>("[...document.querySelectorAll('[data-state][aria-current]')].map((one) => one.dataset.state)")

test('a turn with a tool and an approval: the tree, each chart as it changes, why, and the decision given from here', async () => {
  const node = await aNode()
  const { page: chat, another } = await aPage(node.page)
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
  expect(page.url()).toContain('seq=1')
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
