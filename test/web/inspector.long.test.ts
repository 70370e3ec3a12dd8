/** The inspector in a browser, against a node as `statecast up` starts it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { parseTraceFile } from '../../src/client/index.ts'
import { agent, createRuntime, type Model, scriptedModel } from '../../src/index.ts'
import { aFolder } from '../cli/run.ts'
import { aNode, aPage, says, shows, withLiveBrowser } from './live/a-node.ts'
import { active, details, inspectorOf, order, region, rpc } from './live/inspector.ts'
import { looksRight, picture } from './live/looks.ts'
import { orderMachine } from './live/order.machine.ts'

withLiveBrowser()

/** The page's questions to its worker wait until they may go, as on a busy machine. */
const questionsHeldBack = async (page: Page) => {
  await page.evaluate(`{
    const say = Worker.prototype.postMessage
    const held = []
    Worker.prototype.postMessage = function (...message) { held.push(() => say.apply(this, message)) }
    window.letGo = () => { Worker.prototype.postMessage = say; for (const one of held) one() }
  }`)
  return { go: () => page.evaluate('window.letGo()') }
}

test('a turn with a tool and an approval: the tree, each chart as it changes, why, and the decision given from here', async () => {
  const node = await aNode()
  const { page: chat, another } = await aPage(node.page)
  await says(chat, 'refund')
  await chat.getByRole('button', { name: 'Allow once' }).waitFor()

  const page = await another(inspectorOf(node.page))
  expect(page.url()).not.toContain('token')
  await page.getByRole('complementary', { name: 'Sessions' }).getByText('waits for you').click()
  const actors = region(page, 'Actors')
  await actors.getByRole('button', { name: /^refund/ }).waitFor()
  expect(await actors.getByRole('button').allTextContents()).toEqual([
    'sessionrunning.answering',
    'desk',
    'turnrunning.awaiting-input',
    'publisheropen.buffering',
    'deliverat work',
    'loopinvoking.awaiting-input',
    'modelended',
    'refundawaiting-input',
  ])
  await expect.poll(() => active(page)).toContain('session.running.answering')
  await actors.getByRole('button', { name: /^refund/ }).click()
  await expect.poll(() => active(page)).toContain('tool.awaiting-input')
  await details(page).locator('.why .yes').getByText('needsApproval', { exact: true }).waitFor()
  await details(page).getByText('Context, 1 to 2').waitFor()
  // Where there is no room for all, the one that waits is in sight, and it is seen that there are more.
  await page.setViewportSize({ width: 390, height: 844 })
  await expect.poll(() => actors.getAttribute('data-more')).toBe('before')
  const { x = 0, width = 390 } = (await actors.getByRole('button', { name: /^refund/ }).boundingBox()) ?? {}
  expect([x >= 0, x + width <= 390]).toEqual([true, true])
  await looksRight(page, 'approval')

  await details(page).getByRole('button', { name: 'Approve' }).click()
  await shows(chat, 'It is done: "refunded 49.9"')
  await actors.getByText('awaiting-input', { exact: true }).waitFor()
  await actors.getByRole('button', { name: /^session/ }).click()
  await expect.poll(() => active(page)).toContain('session.awaiting-input')
  await page.getByRole('button', { name: 'Labels' }).click()
  await picture(page, 'after-labels')

  // Back to where it waited, by keys.
  await page.keyboard.press('Home')
  await details(page).getByText('commit 1', { exact: true }).waitFor()
  await expect.poll(() => page.url()).toContain('seq=1')
  await page.keyboard.press(']')
  await details(page).getByText('commit 2', { exact: true }).waitFor()
  await details(page).getByText('Answered at').waitFor()
  const edge = await actors.evaluate((strip) => strip.getBoundingClientRect().right)
  const rightOf = async (name: RegExp) => {
    const box = await actors.getByRole('button', { name }).boundingBox()
    return box ? box.x + box.width : Number.POSITIVE_INFINITY
  }
  await expect.poll(() => rightOf(/^refund/)).toBeLessThanOrEqual(edge)
  expect(await details(page).getByRole('button', { name: 'Approve' }).count()).toBe(0)
  await page.getByRole('button', { name: 'replay' }).first().click()
  await page.getByText('replay identical').waitFor()

  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const whatIf = page.getByRole('dialog', { name: /What if/ })
  // A key that is pressed while another dialog leaves is for that one.
  await expect
    .poll(async () => {
      if (!(await whatIf.isVisible())) await page.keyboard.press('w')
      return whatIf.isVisible()
    })
    .toBe(true)
  await whatIf.getByText('another model answer').waitFor()
  await picture(page, 'what-if')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('e')])
  expect(download.suggestedFilename()).toMatch(/^main-\d+\.redacted\.trace$/)
  const file = join(aFolder(), 'downloaded')
  await download.saveAs(file)
  const given = readFileSync(file, 'utf8')
  const { frames, redacted, address } = parseTraceFile(given, 'the download')
  expect([redacted, frames.length > 5, address.kind]).toEqual([true, true, 'session'])
  const inside = frames.map(({ bytes }) => Buffer.from(bytes, 'base64').toString('latin1')).join('')
  for (const said of ['I ask first', 'refunded', '49.9', '20417']) expect(inside).not.toContain(said)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('l')
  await expect.poll(() => page.url()).not.toContain('seq=')
})

test('forked from the page: what if it had been denied, and once more as it was', async () => {
  const node = await aNode()
  const { page: chat, another } = await aPage(node.page)
  await says(chat, 'refund')
  await chat.getByRole('button', { name: 'Allow once' }).click()
  await shows(chat, 'It is done: "refunded 49.9"')
  const page = await another(`${inspectorOf(node.page).replace('#', '?session=main&seq=3#')}`)
  await details(page).getByText('commit 3', { exact: true }).waitFor()

  await page.keyboard.press('w')
  const whatIf = page.getByRole('dialog', { name: /What if/ })
  await whatIf.getByText('another model answer').last().click()
  await whatIf.getByText('Its call of refund is then not made.').waitFor()
  await whatIf.getByText('another decision').click()
  await whatIf.getByText('It would have been denied').waitFor()
  await picture(page, 'what-if-denied')
  await whatIf.getByRole('button', { name: 'Fork with this' }).click()

  await expect.poll(() => new URL(page.url()).searchParams.get('session')).toBe('main-f1')
  await expect.poll(() => active(page)).toContain('session.awaiting-input')
  await region(page, 'Actors')
    .getByRole('button', { name: /^session/ })
    .waitFor()
  expect(JSON.stringify(await rpc(node.page, 'chat.history', { sessionKey: 'main-f1' }))).toContain('tool_denied')
  expect(JSON.stringify(await rpc(node.page, 'chat.history', { sessionKey: 'main' }))).not.toContain('tool_denied')
  await page.getByRole('button', { name: 'replay' }).first().click()
  await page.getByText('replay identical').waitFor()
  await page.keyboard.press('Home')
  await details(page).getByText('commit 1', { exact: true }).waitFor()
  await looksRight(page, 'fork')

  await page.keyboard.press('f')
  const fork = page.getByRole('dialog', { name: /Fork at 1/ })
  await fork.getByLabel('Key of the fork').fill('main-f1')
  await fork.getByRole('button', { name: 'Fork', exact: true }).click()
  await fork.getByText('there is a session/main-f1 already').waitFor()
  await fork.getByLabel('Key of the fork').fill('again')
  await fork.getByRole('button', { name: 'Fork', exact: true }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('session')).toBe('again')
  // What was asked then is answered as then, up to the person.
  await details(page).getByRole('button', { name: 'Approve' }).waitFor()
})

test('"why?" at an answer leads to the commit in which the model gave it, and shows what it was asked and said', async () => {
  const node = await aNode()
  const { page } = await aPage(node.page)
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

test("an author's own machine shows as well: regions, a history, and why a refund was refused", async () => {
  const node = await aNode()
  for (const event of [{ type: 'pay', amount: 49.9 }, { type: 'pause' }, { type: 'resume' }, { type: 'refund' }, { type: 'refund' }])
    await order(node.page, event)
  const { another } = await aPage(node.page)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))

  await expect
    .poll(() => active(page))
    .toEqual(['order.open', 'order.open.money', 'order.open.parcel', 'order.open.money.paid', 'order.open.parcel.packing'])
  await details(page).getByText('mayRefund').waitFor()
  expect(await details(page).locator('.why li.no').textContent()).toContain('refunds = 1')
  await picture(page, 'order')

  await page.getByRole('button', { name: 'Coverage' }).click()
  await page.getByText('in 1 actor').waitFor()
  expect(await page.locator('[data-state="order.paused"]').getAttribute('class')).toContain('heat-1')
  await page.locator('.drawing [role="button"][aria-label*="refund"]').first().click()
  await page.getByRole('dialog', { name: 'Transitions' }).getByText('taken once, by').waitFor()
  await looksRight(page, 'coverage')
  await page.keyboard.press('h')

  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => active(page)).toEqual(['order.paused'])

  // What if it had not been paused, and with a word about it?
  const heldBack = await questionsHeldBack(page)
  await page.keyboard.press('w')
  const whatIf = page.getByRole('dialog', { name: /What if/ })
  await whatIf.getByText('another event').waitFor()
  const field = whatIf.getByLabel('It would have held (JSON)')
  // Nobody writes before what was recorded is there: it would fall upon what they wrote.
  expect(await field.isDisabled()).toBe(true)
  await heldBack.go()
  await field.fill('{"note":')
  await whatIf.getByText('This is not JSON').waitFor()
  expect(await whatIf.getByRole('button', { name: 'Fork with this' }).isDisabled()).toBe(true)
  await field.fill('{"note":"hardly"}')
  await whatIf.getByRole('button', { name: 'Fork with this' }).click()
  await expect.poll(() => new URL(page.url()).searchParams.get('id')).toBe('o-1-f1')
  await expect.poll(() => active(page)).toEqual(['order.paused'])
  await details(page).getByText('"hardly"').first().waitFor()
  // The list knows it at once, and where it came from.
  const list = page.getByRole('complementary', { name: 'Sessions' })
  await list.locator('li.is-fork').getByText('fork of o-1 at 1').waitFor()
})

test('a node that is killed and started again is found again, and nothing is missing', async () => {
  const node = await aNode()
  await order(node.page, { type: 'pay', amount: 1 })
  const { another } = await aPage(node.page, /WebSocket|ERR_CONNECTION/)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))
  await expect.poll(() => active(page)).toContain('order.open.money.paid')

  await node.killed()
  await page.getByText(/^The node does not answer. What you see is complete up to 1/).waitFor()
  await node.started()
  await order(node.page, { type: 'pause' })

  await expect.poll(() => active(page)).toEqual(['order.paused'])
  await region(page, 'Timeline').getByText('2 / 2').waitFor()
})

test('whatever a session holds is shown as text, and a line of 4 MB, the longest there can be, stays cut until somebody wants it', async () => {
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202Egnp.exe'
  const node = await aNode(async (folder) => {
    const runtime = await createRuntime({ transport: `embedded:${join(folder, '.statecast')}`, machines: { order: orderMachine } })
    await runtime.actor('order', 'o-1').send({ type: 'note', text: `${hostile}${'x'.repeat(4_000_000)}` })
    await runtime.close()
  })
  const { another } = await aPage(node.page)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))

  await details(page).locator('summary', { hasText: 'note' }).click()
  await details(page).getByText('⟨RLO⟩').first().waitFor()
  await details(page).getByRole('button', { name: 'show all 4.0 MB' }).first().waitFor()
  expect(await page.evaluate('document.images.length + document.querySelectorAll("body script").length')).toBe(0)
  expect(await page.title()).toBe('o-1 at 1 · Statecast inspector')
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

// Ten thousand commits, each synced, take minutes where others use the disk.
test('any moment of 10,000 commits is opened, and how long that takes is told', { timeout: 600_000 }, async () => {
  const talk = scriptedModel(() => ({ text: 'yes' }))
  const node = await aNode(async (folder) => {
    const models: Record<string, Model> = { 'test/talk': talk }
    const runtime = await createRuntime({
      transport: `embedded:${join(folder, '.statecast')}`,
      models,
      agents: [agent({ name: 'main', model: 'test/talk' })],
    })
    const session = runtime.session('long')
    // Begun anew now and then: a turn takes time with the length of its conversation. A turn is two commits, and that is one.
    for (let turn = 1; turn <= 4_995; turn++) {
      await (await session.send(`turn ${turn}`)).result()
      if (turn % 499 === 0) await session.reset()
    }
    await runtime.close()
  })
  const { another } = await aPage(node.page)
  const page = await another(inspectorOf(node.page, '?session=long'))
  await region(page, 'Timeline')
    .getByText(/10000 \/ 10000/)
    .waitFor()
  await page.locator('.info[data-look="10000"]').waitFor()
  await picture(page, 'long')

  const took = await page.evaluate<number[]>(`(async () => {
    const slider = document.querySelector('.scrub input')
    const took = []
    for (let turn = 0; turn < 60; turn++) {
      const seq = 1 + Math.floor(((turn * 7919) % 10000))
      const start = performance.now()
      slider.value = seq
      slider.dispatchEvent(new Event('input', { bubbles: true }))
      while (!document.querySelector('.info[data-look="' + seq + '"]')) await new Promise((resolve) => setTimeout(resolve, 1))
      took.push(performance.now() - start)
    }
    return took
  })()`)
  took.sort((a, b) => a - b)
  console.log(
    `any of 10,000 commits: p50 ${Math.round(took[30] ?? 0)} ms, p95 ${Math.round(took[57] ?? 0)} ms, max ${Math.round(took.at(-1) ?? 0)} ms`,
  )
})

test('what happens is seen soon after, and how soon is told', async () => {
  const node = await aNode()
  await order(node.page, { type: 'place' })
  const { another } = await aPage(node.page)
  const page = await another(inspectorOf(node.page, '?kind=order&id=o-1'))
  await region(page, 'Timeline')
    .getByText(/^1 \/ 1$/)
    .waitFor()
  await page.evaluate(`(() => {
    window.drawn = {}
    const look = () => {
      const seq = document.querySelector('.info')?.dataset.look
      if (seq) window.drawn[seq] ??= Date.now()
      requestAnimationFrame(look)
    }
    look()
  })()`)

  const lags: number[] = []
  for (let turn = 0; turn < 120; turn++) {
    const { seq, at } = (await order(node.page, { type: 'refund', amount: turn })) as { seq: number; at: number }
    await expect.poll(() => page.evaluate<number | undefined>(`window.drawn[${seq}]`)).toBeGreaterThan(0)
    lags.push((await page.evaluate<number>(`window.drawn[${seq}]`)) - at)
  }
  lags.sort((a, b) => a - b)
  console.log(`from a commit until it is drawn: p50 ${lags[60]} ms, p99 ${lags[118]} ms, max ${lags[119]} ms`)
})
