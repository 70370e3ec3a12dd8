/** What is said beside a conversation, on the page: a card apart from it that somebody takes away. */
import { expect, test } from 'vitest'
import { asked, onPage, scripted, withBrowser } from './browser.ts'
import { aNode, aPage, says, shows, withLiveBrowser } from './live/a-node.ts'

withBrowser()
withLiveBrowser()

test('[CH-81] a side result is a card apart from the log, and goes when it is dismissed', async () => {
  await onPage('live', {}, async (page) => {
    const place = page.getByRole('region', { name: 'Beside the conversation' })
    expect(await place.count()).toBe(0)
    await scripted(page, (model) => {
      model.changeCurrent({
        asides: [
          { id: 'a1', state: 'asked', question: 'what was the limit?' },
          { id: 'a2', state: 'told', text: 'The **disk** is failing.' },
          { id: 'a3', state: 'failed', question: 'and now?', text: 'The model did not answer in time.' },
        ],
      })
    })
    await place.getByText('Answering beside the conversation…').waitFor()
    expect(await place.locator('strong').textContent()).toBe('disk')
    expect(await place.getByText('did not answer in time').count()).toBe(1)
    expect(await page.locator('[data-log]').getByText('did not answer in time').count()).toBe(0)

    await place.getByRole('button', { name: 'Dismiss: and now?' }).click()
    await expect.poll(() => place.locator('[data-aside]').count()).toBe(2)
    expect((await asked(page)).at(-1)).toEqual(['dismissAside', 'a3'])
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })
})

test('[CH-81] asked in the middle of an answer, it is answered before that ends; a reload shows the conversation without it', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
  await says(page, 'story')
  await shows(page, 'w100')
  await says(page, '/btw how far are you?')

  const place = page.getByRole('region', { name: 'Beside the conversation' })
  await place
    .locator('[data-aside=told]')
    .getByText(/^echo The conversation so far/)
    .first()
    .waitFor()
  const log = page.locator('[data-log]')
  expect(await log.getByText('w101').count()).toBe(0)
  expect(await log.getByText('how far').count()).toBe(0)
  node.goOn()
  await shows(page, 'w200')

  await page.reload()
  await shows(page, 'w200')
  expect(await place.count()).toBe(0)
  expect(await page.getByText('how far').count()).toBe(0)
})
