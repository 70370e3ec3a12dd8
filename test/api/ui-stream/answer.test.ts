/** An answer that is recorded from a bus which nodes share, and which loses messages. In virtual time. */
import { expect, test } from 'vitest'
import { Answer } from '../../../src/api/ui-stream/answer.ts'
import type { UiPart } from '../../../src/api/ui-stream/ui-part.ts'
import { agent } from '../../../src/index.ts'
import type { OutEvent, Runtime } from '../../../src/runtime/index.ts'
import { testRuntime } from '../../../src/testing/index.ts'
import { afterThisTest } from '../../support/cleanup.ts'
import { danger } from './harness.ts'

/** @param loses events that do not arrive */
const recorded = async (loses: (event: OutEvent) => boolean) => {
  const kit = await testRuntime({
    agents: [agent({ name: 'main', model: 't/m', tools: [danger()] })],
    models: {
      't/m': ({ messages }) =>
        messages.at(-1)?.role === 'user' ? { text: 'May I?', calls: [{ name: 'danger', input: { what: 'x' } }] } : { text: 'done' },
    },
  })
  afterThisTest(() => kit.close())
  const events: Runtime['events'] = (...given) => {
    const feed = kit.runtime.events(...given)
    const arriving = async function* () {
      for await (const event of feed.events) if (!loses(event)) yield event
    }
    return { ...feed, events: arriving() }
  }
  const runtime = new Proxy(kit.runtime, {
    get: (target, name) => {
      if (name === 'shared') return true
      if (name === 'events') return events
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await kit.clock.until(kit.session('s').send('go', { idempotencyKey: 'u1' }))
  const answer = new Answer({ runtime, session: kit.session('s'), clock: kit.clock }, { id: 'u1', from: 1 }, () => undefined)
  afterThisTest(() => answer.stop())
  const leave = new AbortController()
  afterThisTest(() => leave.abort())
  const parts: UiPart[] = []
  const reading = answer.read({ signal: leave.signal })
  const ended = (async () => {
    for await (const part of reading.parts) parts.push(part)
    reading.close()
  })()
  return { kit, parts, ended, types: () => parts.map(({ type }) => type) }
}

test('a question that the bus lost is asked for again: its reader gets it, and the stream ends there', async () => {
  const { kit, ended, types } = await recorded(({ type }) => type === 'approval')
  const before = kit.clock.now()

  await kit.clock.until(ended)

  expect(types().filter((type) => type === 'tool-approval-request')).toHaveLength(1)
  expect(kit.clock.now() - before).toBeLessThan(60_000)
})

test('a question that arrived is asked once, however long its answer takes', async () => {
  const { kit, ended, types } = await recorded(() => false)

  await kit.clock.until(ended)
  await kit.clock.advance(60_000)

  expect(types().filter((type) => type === 'tool-approval-request')).toHaveLength(1)
})
