/** How the chat page looks, in light and dark, wide and narrow, and whether everybody can use what is seen. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { asked, onPage, pictures, withBrowser } from './browser.ts'
import type { SceneName } from './page/scenes.ts'

withBrowser()

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core')), 'utf8')
type Finding = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }

const seriousIn = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe)
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`))
}

const scenes: SceneName[] = ['live', 'tool', 'approval', 'trouble', 'rich', 'wide', 'empty', 'loading']
const views = scenes.flatMap((scene) =>
  [1440, 390].flatMap((width) => [false, true].map((dark) => ({ scene, width, dark, name: dark ? 'dark' : 'light' }))),
)

test.each(views)('$scene at $width px, $name: nothing to complain about, and everybody can use it', async ({ scene, width, dark, name }) => {
  await onPage(scene, { width, dark, still: true }, async (page) => {
    if (scene === 'trouble') await page.getByText('The connection is gone.').waitFor()
    if (scene === 'rich') await page.locator('.katex-display').waitFor()
    if (scene === 'loading') await page.getByText('You can write already').waitFor()
    await page.evaluate('document.fonts.ready')
    await page.screenshot({ path: join(pictures, `${scene}-${width}-${name}.png`) })

    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(name)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await seriousIn(page)).toEqual([])
  })
})

test.each([1440, 390])('at %i px nothing stands over what is beside it, and lines stay lines', async (width) => {
  await onPage('wide', { width, still: true }, async (page) => {
    const out =
      "[...document.querySelectorAll('td, .files .file, .files .fine, .words, .problem')].filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)"
    expect(await page.evaluate(`${out}.map((one) => one.className + ' ' + one.tagName)`)).toEqual([])
    const size = page.locator('.files .fine')
    expect(await size.evaluate((one) => one.getBoundingClientRect().height)).toBeLessThan(24)
    const reply = await page.evaluate<string>("document.querySelector('.prose.lines').innerText")
    expect(reply.split('\n')).toEqual(['tools: 3', '  tool add: 147 characters'])
  })
})

test('settings, menus and the drawer can be used by everybody too', async () => {
  await onPage('live', { still: true }, async (page) => {
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('radio', { name: 'Compact' }).check()
    await page.getByRole('radio', { name: 'Dark' }).check()
    await page.screenshot({ path: join(pictures, 'settings.png') })
    expect(await page.evaluate('({ ...document.documentElement.dataset })')).toEqual({ theme: 'dark', density: 'compact' })
    expect(await seriousIn(page)).toEqual([])
    await page.keyboard.press('Escape')

    // It is there again with the first paint of the next visit.
    await page.reload()
    expect(await page.evaluate('({ ...document.documentElement.dataset })')).toEqual({ theme: 'dark', density: 'compact' })

    await page.getByRole('button', { name: 'Model: claude-sonnet-4-5' }).click()
    await page.screenshot({ path: join(pictures, 'models.png') })
    expect(await seriousIn(page)).toEqual([])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await asked(page)).toEqual([['setModel', 'anthropic/claude-opus-4-5']])
    await page.getByRole('button', { name: 'Model: claude-opus-4-5' }).waitFor()
  })
  await onPage('live', { width: 390, still: true }, async (page) => {
    await page.getByRole('button', { name: 'Conversations' }).click()
    await page.screenshot({ path: join(pictures, 'drawer.png') })
    expect(await page.locator('main').getAttribute('inert')).not.toBeNull()
    expect(await seriousIn(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('main').getAttribute('inert')).toBeNull()
  })
})
