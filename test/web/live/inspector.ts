/** The inspector of a node, and what scripts tell the node meanwhile. */
import type { Page } from 'playwright-core'

/** The node's page of the inspector, with the token where `statecast up` puts it. */
export const inspectorOf = (address: string, query = ''): string => address.replace('/#', `/inspector${query}#`)
export const region = (page: Page, name: string) => page.getByRole('region', { name })
export const details = (page: Page) => page.getByRole('complementary', { name: 'Details' })
export const active = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>("[...document.querySelectorAll('[data-state][aria-current]')].map((one) => one.dataset.state)")

/** As a script or another service does it. */
export const rpc = async (address: string, command: string, input: object): Promise<unknown> => {
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
export const order = (address: string, event: object) => rpc(address, 'actors.send', { kind: 'order', id: 'o-1', event })

/** A key that opens a dialog; where none comes, what the page was at. */
export const opensBy = async (page: Page, key: string): Promise<void> => {
  await page.keyboard.press(key)
  await page
    .getByRole('dialog')
    .waitFor()
    .catch(async (cause: unknown) => {
      const focused = await page.evaluate<string>('document.activeElement?.outerHTML.slice(0, 200)')
      throw new Error(`no dialog after ${key}; the focus is at ${focused}; the page says ${await page.locator('body').textContent()}`, { cause })
    })
}
