/** How a page looks: pictures of it, and what must be so in each of them. */
import { mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const pictures = process.env.SCREENSHOTS ?? join(tmpdir(), 'statecast-inspector')
mkdirSync(pictures, { recursive: true })
export const picture = (page: Page, name: string) => page.screenshot({ path: join(pictures, `${name}.png`) })

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core')), 'utf8')
type Finding = { id: string; impact: string; nodes: { html: string }[] }

type Form = readonly [width: number, height: number, dark: boolean]
export const wide: readonly Form[] = [
  [1440, 900, false],
  [1440, 900, true],
]
export const phone: readonly Form[] = [
  [390, 844, false],
  [390, 844, true],
]

/** In each of its forms there is nothing beside the edge of a page, and nobody is left out. */
export const looksRight = async (page: Page, name: string, forms: readonly Form[] = [...wide, [1024, 768, false], ...phone]): Promise<void> => {
  for (const [width, height, dark] of forms) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' })
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe(dark ? 'dark' : 'light')
    await picture(page, `${name}-${width}-${dark ? 'dark' : 'light'}`)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.evaluate(axe)
    const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()')
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${name} ${width} ${id}: ${html.slice(0, 160)}`))).toEqual([])
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' })
}
