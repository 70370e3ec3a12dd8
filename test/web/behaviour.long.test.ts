/** How the chat page behaves while somebody writes, reads and answers, in a browser. */
import { expect, test } from 'vitest'
import { asked, fromEnd, onPage, scripted, withBrowser } from './browser.ts'

withBrowser()

test('what is written is kept by conversation, sent by Enter, and comes back when it is refused', async () => {
  await onPage('empty', {}, async (page) => {
    const field = page.getByRole('textbox', { name: 'Message' })
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    await page.keyboard.type('half a thought')
    await scripted(page, (model) => model.open('story'))
    await page.getByRole('heading', { name: 'Lighthouse story' }).waitFor()
    expect(await field.inputValue()).toBe('')
    await scripted(page, (model) => model.newConversation())
    await page.reload()
    expect(await field.inputValue()).toBe('half a thought')

    await scripted(page, (model) => {
      model.refusal = { code: 'overloaded', message: 'the queue is full', hint: 'try again in a minute' }
    })
    await field.press('Enter')
    await page.getByRole('alert').getByText('Too much is waiting already.').waitFor()
    expect(await field.inputValue()).toBe('half a thought')

    await field.press('Enter')
    await page.locator('.said', { hasText: 'half a thought' }).waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await page.evaluate("localStorage.getItem('statecast.draft.new')")).toBeNull()
    expect((await asked(page)).map(([what]) => what)).toEqual(['send', 'send'])
  })
})

test('until the server has it, a message is kept', async () => {
  await onPage('empty', {}, async (page) => {
    await scripted(page, (model) => {
      model.answers = false
    })
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('on its way')
    await field.press('Enter')
    await expect.poll(() => asked(page)).toHaveLength(1)
    await page.reload()
    expect(await field.inputValue()).toBe('on its way')
  })
})

test('the Enter of an input method ends a word, and sends nothing', async () => {
  await onPage('empty', {}, async (page) => {
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('にほん')
    await field.evaluate((element) => {
      const enter = (init: KeyboardEventInit) =>
        element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...init }))
      enter({ isComposing: true })
      enter({ keyCode: 229 })
      element.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true }))
      enter({})
    })
    expect(await field.inputValue()).toBe('にほん')
    expect(await asked(page)).toEqual([])
  })
})

test('while it runs a message joins or waits, what waits can be withdrawn, and it can be stopped', async () => {
  await onPage('live', {}, async (page) => {
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('join')
    await field.press('Enter')
    await field.fill('after')
    await field.press('Alt+Enter')
    const tray = page.getByRole('list', { name: 'Waiting messages' })
    await tray.getByText('after', { exact: true }).waitFor()
    expect(await asked(page)).toEqual([
      ['send', 'join', 'steer'],
      ['send', 'after', 'followup'],
    ])

    await tray.getByRole('listitem').filter({ hasText: 'join' }).getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('Withdrawn, its text is in the field again').waitFor()
    expect(await field.inputValue()).toBe('join')

    await page.keyboard.press('Escape')
    await page.getByText('Esc once more stops the turn').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Stopping…' }).waitFor()
    expect((await asked(page)).at(-1)).toEqual(['stop'])
  })
})

test('a question is answered by its buttons alone; a refusal says why', async () => {
  await onPage('approval', {}, async (page) => {
    await page.keyboard.type('y')
    await page.getByRole('textbox', { name: 'Message' }).fill('')
    await page.keyboard.press('Alt+a')
    await expect.poll(() => page.getByRole('button', { name: 'Allow once' }).evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await asked(page)).toEqual([])

    await page.getByRole('button', { name: 'Deny…' }).click()
    await page.keyboard.type('refund the kettle only')
    await page.getByRole('button', { name: 'Deny', exact: true }).click()
    await page.getByText('refund_order was denied by you').waitFor()
    expect(await asked(page)).toEqual([['decide', 'call-refund_order', 'deny', 'refund the kettle only']])
    // The button is gone: what is typed next goes into the field.
    await expect.poll(() => page.getByRole('textbox', { name: 'Message' }).evaluate((element) => element === document.activeElement)).toBe(true)
  })
})

test('text from right to left has its own direction, block by block', async () => {
  await onPage('live', {}, async (page) => {
    await scripted(page, (model) => model.write('\n\nمرحبا بالعالم.\n\n- واحد\n\nHello world.\n\n'))
    const directionOf = (text: string) =>
      page
        .locator('.prose')
        .getByText(text)
        .evaluate((element) => getComputedStyle(element).direction)
    await page.locator('.prose').getByText('Hello world.').waitFor()
    expect(await Promise.all(['مرحبا', 'واحد', 'Hello world.'].map(directionOf))).toEqual(['rtl', 'rtl', 'ltr'])
    const field = page.getByRole('textbox', { name: 'Message' })
    await field.fill('שלום')
    expect(await field.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
  })
})

test('the end is followed while text comes in, and left alone when somebody reads further up', async () => {
  await onPage('live', { width: 390 }, async (page) => {
    const write = (lines: number) => scripted(page, (model, count) => model.write('Line of the answer.\n\n'.repeat(count)), lines)
    await write(30)
    await page.locator('.prose p:nth-child(30)').waitFor()
    await expect.poll(() => fromEnd(page)).toBeLessThan(2)

    const log = page.locator('[data-log]')
    await log.hover()
    await page.mouse.wheel(0, -500)
    await page.getByRole('button', { name: 'Latest' }).waitFor()
    const before = await log.evaluate((element) => element.scrollTop)
    await write(60)
    await page.locator('.prose p:nth-child(60)').waitFor({ state: 'attached' })
    expect(await log.evaluate((element) => element.scrollTop)).toBe(before)

    // What comes in above does not move what is read either.
    const read = page.locator('.prose p:nth-child(12)')
    const place = (await read.boundingBox())?.y
    await scripted(page, (model) => {
      const { entries } = model.view().current
      model.changeCurrent({
        entries: [
          { kind: 'said', id: 'older', text: 'older\n'.repeat(8), state: 'sent' },
          { kind: 'answer', id: 'old', state: 'final', blocks: [] },
          ...entries,
        ],
      })
    })
    await page.locator('.said', { hasText: 'older' }).waitFor({ state: 'attached' })
    await expect.poll(async () => Math.round(((await read.boundingBox())?.y ?? 0) - (place ?? 0))).toBe(0)

    await page.getByRole('button', { name: 'Latest' }).click()
    await expect.poll(() => fromEnd(page)).toBeLessThan(2)
    await page.getByRole('button', { name: 'Latest' }).waitFor({ state: 'detached' })
  })
})

test('blocks that are finished keep their nodes, and no raw mark is ever seen', async () => {
  await onPage('live', { still: true }, async (page) => {
    const answer = page.locator('.prose').last()
    await scripted(page, (model) => model.write('First **one**.\n\nSecond **tw'))
    await expect.poll(() => answer.textContent()).toBe('First one.Second tw')
    await answer.evaluate((element) => Object.assign(window, { first: element.firstElementChild, second: element.children[1] }))

    await scripted(page, (model) => model.write('First **one**.\n\nSecond **two**, and\n\n```ts\nconst a = 1'))
    await expect.poll(() => answer.locator('pre').textContent()).toBe('const a = 1')
    expect(await answer.locator('pre span').count()).toBe(0)

    await scripted(page, (model) => model.write('First **one**.\n\nSecond **two**, and\n\n```ts\nconst a = 1\n```\n'))
    await answer.locator('pre .key').waitFor()
    expect(
      await answer.evaluate((element) => [(window as any).first === element.children[0], (window as any).second === element.children[1]]),
    ).toEqual([true, true])
  })
})

test('what somebody has marked stays marked while the answer goes on, also in the block that is being written', async () => {
  await onPage('live', {}, async (page) => {
    const answer = page.locator('.prose').last()
    await scripted(page, (model) => model.write('The first block.\n\nThe second'))
    await expect.poll(() => answer.textContent()).toBe('The first block.The second')
    const mark = (block: number) =>
      answer
        .locator('p')
        .nth(block)
        .evaluate((paragraph) => getSelection()?.selectAllChildren(paragraph))
    const marked = () => page.evaluate('String(getSelection())')

    await mark(0)
    await scripted(page, (model) => model.write('The first block.\n\nThe second block'))
    await expect.poll(() => answer.textContent()).toBe('The first block.The second block')
    expect(await marked()).toBe('The first block.')

    await mark(1)
    await scripted(page, (model) => {
      model.write('The first block.\n\nThe second block goes on.')
      model.changeAnswer({ state: 'final' })
    })
    await page.locator('.end').waitFor()
    expect(await marked()).toBe('The second block')
    await page.evaluate('getSelection().removeAllRanges()')
    await expect.poll(() => answer.textContent()).toBe('The first block.The second block goes on.')
  })
})

test('what is foreign stays text: in answers, names of tools, arguments, titles', async () => {
  await onPage('live', { still: true }, async (page) => {
    await scripted(page, (model) => {
      const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
      model.changeCurrent({ title: evil })
      model.change({ conversations: [{ key: 'x', title: evil, words: evil }] })
      model.changeAnswer({
        blocks: [
          { type: 'thinking', id: 't', thinking: evil },
          { type: 'tool', callId: 'c', name: evil, state: 'error', input: { [evil]: evil }, output: evil, message: evil },
          { type: 'text', id: 'm', text: `${evil}\n\n[press](javascript:window.hit=1)\n\n$\\href{javascript:window.hit=1}{x}$` },
        ],
      })
      model.add({ kind: 'said', id: 'e', text: evil, state: 'sent' }, { kind: 'notice', id: 'n', text: evil })
    })
    await page.locator('.notice').waitFor()
    await page.locator('.prose').last().waitFor()
    expect(await page.locator('.page img, .page script, .page a[href^="javascript"], .page [onerror]').count()).toBe(0)
    expect(await page.evaluate('window.hit')).toBeUndefined()
  })
})

test('code is copied alone, an answer as it was written', async () => {
  await onPage('rich', { still: true }, async (page) => {
    await page.locator('.code').getByRole('button', { name: 'Copy' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^const delayMs = [^`]*}$/)
    await page.locator('.end').first().getByRole('button', { name: 'Copy' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('## The worst case')
    expect(await page.locator('.katex-display').count()).toBe(1)
    expect(await page.locator('.katex').count()).toBe(2)
  })
})

test('the list is searched, and a title is changed in its place', async () => {
  await onPage('rich', {}, async (page) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type('kettle')
    await expect.poll(() => page.locator('.conversation').count()).toBe(1)
    expect(await page.locator('.conversation mark').textContent()).toBe('Kettle')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Rename Lighthouse story' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Not this')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Rename Lighthouse story' }).click()
    await page.keyboard.type('A lighthouse')
    await page.keyboard.press('Enter')
    await page.locator('.conversation', { hasText: 'A lighthouse' }).waitFor()
    expect(await asked(page)).toEqual([['rename', 'story', 'A lighthouse']])
  })
})

test('the three beginnings are said as they are', async () => {
  await onPage('empty', {}, async (page) => {
    await page.getByRole('button', { name: 'What is 17*23?' }).click()
    await page.locator('.said', { hasText: 'what is 17*23?' }).waitFor()
    expect(await asked(page)).toEqual([['send', 'what is 17*23?', 'steer']])
  })
})

test('of a history of 2,000 messages only what is new is drawn when one more comes', async () => {
  await onPage('empty', { still: true }, async (page) => {
    await scripted(page, (model) =>
      model.add(
        ...Array.from({ length: 1000 }, (_, turn) => [
          { kind: 'said', id: `s${turn}`, text: `question ${turn}`, state: 'sent' } as const,
          { kind: 'answer', id: `r${turn}`, state: 'final', blocks: [{ type: 'text', id: `m${turn}`, text: `**answer** ${turn}` }] } as const,
        ]).flat(),
      ),
    )
    await page.getByText('question 999').waitFor()
    await expect.poll(() => fromEnd(page)).toBeLessThan(2)
    expect(await page.locator('.turn').count()).toBe(1000)

    // What changes from now on, by the turn that it is in.
    await page.evaluate(() => {
      const changed = new Set<string>()
      Object.assign(window, { changed })
      new MutationObserver((all) => {
        for (const { target } of all) changed.add((target as Element).closest?.('[data-turn]')?.getAttribute('data-turn') ?? 'log')
      }).observe(document.querySelector('[data-log]') as Element, { subtree: true, childList: true, attributes: true, characterData: true })
    })
    await page.getByRole('textbox', { name: 'Message' }).fill('one more')
    await page.keyboard.press('Enter')
    await page.locator('.said', { hasText: 'one more' }).waitFor()

    // The turn before the new one is a past one now, which is a class of it.
    expect(await page.evaluate('[...window.changed].filter((one) => one !== "log").filter((one) => !one.startsWith("said-"))')).toEqual(['s999'])
  })
})
