/** Data outlives code: a data folder of an earlier build opens, replays to what it recorded, and goes on (write.ts made it). */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aFolder } from '../cli/folders.ts'
import { afterThisTest } from '../support/cleanup.ts'
import { answers, open } from './app.ts'

const revisions = readdirSync(import.meta.dirname, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

/** A runtime on a copy of the folder. */
const reopened = async (revision: string) => {
  const folder = aFolder()
  cpSync(join(import.meta.dirname, revision), folder, { recursive: true })
  // Is there by now: whatever a file was when the answer was recorded, its replay gives the same.
  mkdirSync(join(folder, 'out'))
  writeFileSync(join(folder, 'out/chart.png'), 'x')
  const runtime = await open(folder, folder)
  afterThisTest(() => runtime.close())
  return runtime
}

/** What a channel gets of each answer by the rules of that build. */
const replies = ['Hello there.', 'Put it into a', 'It is 42.  Yes.', 'Row, row.', 'The log says:\nThat is all.', 'Say it.']

describe.each(revisions)('a data folder of %s', (revision) => {
  test.each(['service', 'ann'])('replays and keeps its replies: the session %s', async (key) => {
    const runtime = await reopened(revision)
    const session = runtime.session(key)

    expect(await runtime.replay(session.address)).toMatchObject({ verdict: 'identical' })
    const outcomes = []
    for (const nth of answers.keys()) {
      const person = { idempotencyKey: `a${nth}`, origin: { channel: 'test', to: 'ann', messageId: `m${nth}` } }
      if (key === 'ann') outcomes.push(await (await session.send(`question ${nth}`, person)).result())
    }
    expect(outcomes.map(({ text }) => text)).toEqual(key === 'ann' ? answers : [])
    expect(outcomes.map(({ reply, text }) => [reply ?? { text }].flat()[0]?.text)).toEqual(key === 'ann' ? replies : [])
  })

  test('goes on with a conversation, by the rules of today', async () => {
    const runtime = await reopened(revision)
    const session = runtime.session('service')

    expect(await (await session.send('and now?')).result()).toMatchObject({ text: `answer ${answers.length}`, outcome: 'replied' })
    expect((await session.history()).filter(({ role }) => role === 'assistant').map((message) => 'text' in message && message.text)).toEqual([
      ...answers,
      `answer ${answers.length}`,
    ])
    expect(await runtime.replay(session.address)).toMatchObject({ verdict: 'identical' })
  })

  test('still waits for a decision, and goes on with it', async () => {
    const session = (await reopened(revision)).session('waits')
    const { approvals, run } = await session.view()
    expect(approvals).toMatchObject([{ name: 'refund', input: { amount: 5 } }])
    await session.approve(approvals[0]!)

    await expect.poll(() => session.outcome(run?.ids[0] ?? '')).toMatchObject({ text: 'Refunded.', toolCalls: 1 })
  })

  test('keeps the deadline of a call that its journal holds: 120 s, then it is denied', async () => {
    const runtime = await reopened(revision)
    const session = runtime.session('expires')
    const { run } = await session.view()

    await expect.poll(() => session.outcome(run?.ids[0] ?? '').catch(() => undefined)).toMatchObject({ text: 'Refunded.', toolCalls: 1 })

    const results = (await session.history()).filter(({ role }) => role === 'tool')
    expect(results).toMatchObject([{ isError: true, output: { error: { code: 'tool_denied', message: expect.stringContaining('120 s') } } }])
    expect(await runtime.replay(session.address)).toMatchObject({ verdict: 'identical' })
  })

  test("opens an author's actor", async () => {
    const runtime = await reopened(revision)
    const order = runtime.actor('order', 'o1')

    expect(await runtime.replay(order.address)).toMatchObject({ verdict: 'identical' })
    expect(await order.snapshot()).toMatchObject({ value: 'open', context: { items: ['kettle', 'cup'] } })
    await order.send({ type: 'place' })
    expect(await order.snapshot()).toMatchObject({ status: 'done', value: 'placed' })
  })
})
